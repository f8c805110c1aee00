//! `CREATE TABLE`, after its first words.

use sqlparser::ast::Ident;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::ast::{ColumnKindSyntax, ColumnSyntax, CreateTable, TypeSyntax};
use super::cursor::{
    expect_word, parse_columns, parse_expr_with_text, parse_options, parse_path, parse_string,
    parse_word, parse_words, peek_nth_word, peek_word,
};
use super::data_type::parse_type;
use super::error::error_at;

pub(super) fn parse(
    parser: &mut Parser,
    sql: &str,
    is_temporary: bool,
) -> Result<CreateTable, ParserError> {
    let if_not_exists = parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS]);
    let mut table = CreateTable {
        name: parse_path(parser)?,
        is_temporary,
        if_not_exists,
        columns: Vec::new(),
        watermark: None,
        primary_key: None,
        comment: None,
        partitioned_by: Vec::new(),
        options: Vec::new(),
    };
    if parser.consume_token(&Token::LParen) {
        loop {
            parse_element(parser, sql, &mut table)?;
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        parser.expect_token(&Token::RParen)?;
    }
    if parse_word(parser, "COMMENT") {
        table.comment = Some(parse_string(parser)?);
    }
    if peek_word(parser, "DISTRIBUTED") {
        return Err(error_at(
            "DISTRIBUTED is not supported",
            parser.peek_token_ref().span.start,
        ));
    }
    if parse_words(parser, &["PARTITIONED", "BY"]) {
        table.partitioned_by = parse_columns(parser)?;
    }
    if parser.parse_keyword(Keyword::WITH) {
        table.options = parse_options(parser)?;
    }
    for word in ["LIKE", "AS"] {
        if peek_word(parser, word) {
            let location = parser.peek_token_ref().span.start;
            return Err(error_at(
                &format!("CREATE TABLE .. {word} is not supported"),
                location,
            ));
        }
    }
    Ok(table)
}

fn parse_element(
    parser: &mut Parser,
    sql: &str,
    table: &mut CreateTable,
) -> Result<(), ParserError> {
    let location = parser.peek_token_ref().span.start;
    if peek_word(parser, "WATERMARK") && peek_nth_word(parser, 1, "FOR") {
        parse_words(parser, &["WATERMARK", "FOR"]);
        let column = parser.parse_identifier()?;
        if parser.peek_token_ref().token == Token::Period {
            let location = parser.peek_token_ref().span.start;
            return Err(error_at(
                "a watermark on a nested field is not supported",
                location,
            ));
        }
        parser.expect_keyword(Keyword::AS)?;
        let expr = parse_expr_with_text(parser, sql)?;
        if table.watermark.replace((column, expr)).is_some() {
            return Err(error_at("a table has one watermark at most", location));
        }
        return Ok(());
    }
    let constraint = if parser.parse_keyword(Keyword::CONSTRAINT) {
        Some(parser.parse_identifier()?)
    } else {
        None
    };
    if parser.parse_keywords(&[Keyword::PRIMARY, Keyword::KEY]) {
        let columns = parse_columns(parser)?;
        return set_primary_key(parser, table, constraint, columns);
    }
    if constraint.is_some() || parser.peek_keyword(Keyword::UNIQUE) {
        let token = parser.peek_token();
        return parser.expected("PRIMARY KEY, the only constraint there is", token);
    }
    let column = parse_column(parser, sql, table)?;
    table.columns.push(column);
    Ok(())
}

fn set_primary_key(
    parser: &mut Parser,
    table: &mut CreateTable,
    name: Option<Ident>,
    columns: Vec<Ident>,
) -> Result<(), ParserError> {
    let location = parser.peek_token_ref().span.start;
    if parse_words(parser, &["ENFORCED"]) || !parser.parse_keyword(Keyword::NOT) {
        return Err(error_at(
            "a primary key must be declared NOT ENFORCED: the engine does not own the data",
            location,
        ));
    }
    expect_word(parser, "ENFORCED")?;
    if table.primary_key.replace((name, columns)).is_some() {
        return Err(error_at("a table has one primary key at most", location));
    }
    Ok(())
}

fn parse_column(
    parser: &mut Parser,
    sql: &str,
    table: &mut CreateTable,
) -> Result<ColumnSyntax, ParserError> {
    let name = parser.parse_identifier()?;
    let kind = if parser.parse_keyword(Keyword::AS) {
        ColumnKindSyntax::Computed(Box::new(parse_expr_with_text(parser, sql)?))
    } else {
        let syntax = parse_type(parser)?;
        let data_type = TypeSyntax {
            text: syntax.text,
            location: syntax.span.start,
        };
        if parse_word(parser, "METADATA") {
            let key = if parser.parse_keyword(Keyword::FROM) {
                Some(parse_string(parser)?)
            } else {
                None
            };
            let is_virtual = parse_word(parser, "VIRTUAL");
            ColumnKindSyntax::Metadata {
                data_type,
                key,
                is_virtual,
            }
        } else {
            ColumnKindSyntax::Physical(data_type)
        }
    };
    let constraint = if parser.parse_keyword(Keyword::CONSTRAINT) {
        Some(parser.parse_identifier()?)
    } else {
        None
    };
    if parser.parse_keywords(&[Keyword::PRIMARY, Keyword::KEY]) {
        let columns = vec![name.clone()];
        set_primary_key(parser, table, constraint, columns)?;
    }
    let comment = if parse_word(parser, "COMMENT") {
        Some(parse_string(parser)?)
    } else {
        None
    };
    Ok(ColumnSyntax {
        name,
        kind,
        comment,
    })
}

//! The statements of a text.

use std::sync::Arc;

use aquifer_table_common::{ParseError, Result, TextPosition};
use sqlparser::ast::Expr;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};

use super::ast::{ParsedStatement, Statement};
use super::cursor::{parse_words, peek_word};
use super::dialect::FlinkDialect;
use super::error::{error_at, parser_error, tokenizer_error};
use super::{
    create_table, create_view, describe, drop, explain, insert, limits, set, show, statement_set,
    use_statement,
};

/// How deep brackets and sub-queries may nest.
const MAX_DEPTH: usize = 100;

/// The statements of a text, separated by semicolons.
///
/// # Errors
/// `parse.syntax` with line, column and the line; `unsupported.feature` for statements that are not
/// offered.
pub fn parse_statements(sql: &str) -> Result<Vec<ParsedStatement>> {
    let mut parser = parser_of(sql)?;
    let shared: Arc<str> = sql.into();
    let mut statements = Vec::new();
    loop {
        while parser.consume_token(&Token::SemiColon) {}
        if parser.peek_token_ref().token == Token::EOF {
            return Ok(statements);
        }
        let location = parser.peek_token_ref().span.start;
        let statement = parse_statement(&mut parser, sql).map_err(|e| parser_error(sql, &e))?;
        statements.push(ParsedStatement {
            sql: shared.clone(),
            location,
            statement,
        });
        let next = parser.peek_token();
        if !matches!(next.token, Token::SemiColon | Token::EOF) {
            let error = parser.expected::<()>("the end of the statement", next);
            return Err(error.err().map_or_else(
                || {
                    ParseError::new(
                        "expected the end of the statement",
                        TextPosition::end_of(sql),
                    )
                    .into()
                },
                |e| parser_error(sql, &e),
            ));
        }
    }
}

/// One expression, such as the text of a computed column.
///
/// # Errors
/// `parse.syntax`.
pub fn parse_expression(sql: &str) -> Result<Expr> {
    let mut parser = parser_of(sql)?;
    let expr = parser.parse_expr().map_err(|e| parser_error(sql, &e))?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let error = error_at(
            &format!("expected the end of the expression, found {}", next.token),
            next.span.start,
        );
        return Err(parser_error(sql, &error));
    }
    Ok(expr)
}

fn parser_of(sql: &str) -> Result<Parser<'static>> {
    let tokens = Tokenizer::new(&FlinkDialect, sql)
        .tokenize_with_location()
        .map_err(|e| tokenizer_error(sql, &e))?;
    limits::check_tokens(sql, &tokens)?;
    Ok(Parser::new(&FlinkDialect)
        .with_recursion_limit(MAX_DEPTH)
        .with_tokens_with_locations(tokens))
}

/// The statement at the parser's place.
pub(super) fn parse_statement(parser: &mut Parser, sql: &str) -> Result<Statement, ParserError> {
    let token = parser.peek_token();
    let keyword = match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        Token::LParen => Keyword::SELECT,
        _ => Keyword::NoKeyword,
    };
    match keyword {
        Keyword::SELECT | Keyword::VALUES | Keyword::WITH => Ok(Statement::Query(parser.parse_query()?)),
        Keyword::INSERT => Ok(Statement::Insert(insert::parse(parser)?)),
        Keyword::CREATE => parse_create(parser, sql),
        Keyword::DROP => Ok(Statement::Drop(drop::parse(parser)?)),
        Keyword::EXPLAIN => Ok(Statement::Explain(explain::parse(parser, sql)?)),
        Keyword::EXECUTE => statement_set::parse(parser),
        Keyword::BEGIN if parse_words(parser, &["BEGIN", "STATEMENT", "SET"]) => Ok(Statement::BeginStatementSet),
        Keyword::END if parse_words(parser, &["END"]) => Ok(Statement::EndStatementSet),
        Keyword::SHOW => Ok(Statement::Show(show::parse(parser)?)),
        Keyword::DESCRIBE | Keyword::DESC => Ok(Statement::Describe(describe::parse(parser)?)),
        Keyword::SET => Ok(Statement::Set(set::parse_set(parser)?)),
        Keyword::RESET => Ok(Statement::Reset(set::parse_reset(parser)?)),
        Keyword::USE => use_statement::parse(parser),
        _ => parser.expected(
            "a statement such as SELECT, INSERT, CREATE TABLE, CREATE VIEW, DROP, EXPLAIN, SHOW, DESCRIBE, SET, \
             RESET, USE or EXECUTE STATEMENT SET",
            token,
        ),
    }
}

fn parse_create(parser: &mut Parser, sql: &str) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::CREATE)?;
    let is_temporary = parser.parse_keyword(Keyword::TEMPORARY);
    if parser.parse_keyword(Keyword::TABLE) {
        return Ok(Statement::CreateTable(Box::new(create_table::parse(
            parser,
            sql,
            is_temporary,
        )?)));
    }
    if parser.parse_keyword(Keyword::VIEW) {
        return Ok(Statement::CreateView(Box::new(create_view::parse(
            parser,
            sql,
            is_temporary,
        )?)));
    }
    let token = parser.peek_token();
    for word in [
        "CATALOG",
        "DATABASE",
        "FUNCTION",
        "MODEL",
        "SYSTEM",
        "MATERIALIZED",
    ] {
        if peek_word(parser, word) {
            return Err(error_at(
                &format!("CREATE {word} is not supported"),
                token.span.start,
            ));
        }
    }
    parser.expected("TABLE or VIEW", token)
}

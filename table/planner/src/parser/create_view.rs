//! `CREATE VIEW`, after its first words.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::ast::CreateView;
use super::cursor::{parse_columns, parse_path, parse_string, parse_word, text_between};

pub(super) fn parse(
    parser: &mut Parser,
    sql: &str,
    is_temporary: bool,
) -> Result<CreateView, ParserError> {
    let if_not_exists = parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS]);
    let name = parse_path(parser)?;
    let columns = if parser.peek_token_ref().token == Token::LParen {
        parse_columns(parser)?
    } else {
        Vec::new()
    };
    let comment = if parse_word(parser, "COMMENT") {
        Some(parse_string(parser)?)
    } else {
        None
    };
    parser.expect_keyword(Keyword::AS)?;
    let begin = parser.peek_token_ref().span.start;
    let query = parser.parse_query()?;
    let end = parser.get_current_token().span.end;
    let query_text = text_between(sql, begin, end);
    Ok(CreateView {
        name,
        is_temporary,
        if_not_exists,
        columns,
        comment,
        query,
        query_text,
    })
}

//! `EXECUTE STATEMENT SET BEGIN .. END`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::ast::{Insert, Statement};
use super::cursor::peek_word;
use super::insert;

/// The statement, or `EXECUTE INSERT ..` and `EXECUTE query`, which mean the same without EXECUTE.
pub(super) fn parse(parser: &mut Parser) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::EXECUTE)?;
    if parser.parse_keywords(&[Keyword::STATEMENT, Keyword::SET]) {
        return Ok(Statement::StatementSet(parse_block(parser)?));
    }
    if peek_word(parser, "INSERT") {
        return Ok(Statement::Insert(insert::parse(parser)?));
    }
    if ["SELECT", "VALUES", "WITH"]
        .iter()
        .any(|w| peek_word(parser, w))
    {
        return Ok(Statement::Query(parser.parse_query()?));
    }
    let token = parser.peek_token();
    parser.expected("STATEMENT SET, INSERT or a query", token)
}

/// `BEGIN insert; .. END`.
pub(super) fn parse_block(parser: &mut Parser) -> Result<Vec<Insert>, ParserError> {
    parser.expect_keyword(Keyword::BEGIN)?;
    let mut inserts = Vec::new();
    loop {
        inserts.push(insert::parse(parser)?);
        parser.expect_token(&Token::SemiColon)?;
        if parser.parse_keyword(Keyword::END) {
            return Ok(inserts);
        }
    }
}

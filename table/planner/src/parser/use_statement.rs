//! `USE CATALOG c` and `USE [c.]d`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

use super::ast::Statement;
use super::cursor::{parse_path, parse_words};

pub(super) fn parse(parser: &mut Parser) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::USE)?;
    if parse_words(parser, &["CATALOG"]) {
        return Ok(Statement::UseCatalog(parser.parse_identifier()?));
    }
    Ok(Statement::UseDatabase(parse_path(parser)?))
}

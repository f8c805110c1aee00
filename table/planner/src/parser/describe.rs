//! `DESCRIBE t`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

use super::ast::ObjectPathSyntax;
use super::cursor::parse_path;

pub(super) fn parse(parser: &mut Parser) -> Result<ObjectPathSyntax, ParserError> {
    parser.expect_one_of_keywords(&[Keyword::DESCRIBE, Keyword::DESC])?;
    parse_path(parser)
}

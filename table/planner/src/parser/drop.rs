//! `DROP TABLE` and `DROP VIEW`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

use super::ast::{Drop, DropKind};
use super::cursor::parse_path;

pub(super) fn parse(parser: &mut Parser) -> Result<Drop, ParserError> {
    parser.expect_keyword(Keyword::DROP)?;
    let is_temporary = parser.parse_keyword(Keyword::TEMPORARY);
    let kind = if parser.parse_keyword(Keyword::TABLE) {
        DropKind::Table
    } else if parser.parse_keyword(Keyword::VIEW) {
        DropKind::View
    } else {
        let token = parser.peek_token();
        return parser.expected("TABLE or VIEW", token);
    };
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    Ok(Drop {
        kind,
        name: parse_path(parser)?,
        is_temporary,
        if_exists,
    })
}

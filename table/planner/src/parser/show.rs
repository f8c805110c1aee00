//! `SHOW ..`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

use super::ast::Show;
use super::cursor::parse_words;

const FORMS: &[(&[&str], Show)] = &[
    (&["CATALOGS"], Show::Catalogs),
    (&["DATABASES"], Show::Databases),
    (&["TABLES"], Show::Tables),
    (&["VIEWS"], Show::Views),
    (&["FUNCTIONS"], Show::Functions),
    (&["CURRENT", "CATALOG"], Show::CurrentCatalog),
    (&["CURRENT", "DATABASE"], Show::CurrentDatabase),
];

pub(super) fn parse(parser: &mut Parser) -> Result<Show, ParserError> {
    parser.expect_keyword(Keyword::SHOW)?;
    for (words, show) in FORMS {
        if parse_words(parser, words) {
            return Ok(*show);
        }
    }
    let token = parser.peek_token();
    parser.expected(
        "CATALOGS, DATABASES, TABLES, VIEWS, FUNCTIONS, CURRENT CATALOG or CURRENT DATABASE",
        token,
    )
}

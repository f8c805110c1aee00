//! `INSERT INTO`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::ast::Insert;
use super::cursor::{parse_columns, parse_path, peek_nth_word, peek_word};
use super::error::error_at;

pub(super) fn parse(parser: &mut Parser) -> Result<Insert, ParserError> {
    parser.expect_keyword(Keyword::INSERT)?;
    let overwrite = match parser.expect_one_of_keywords(&[Keyword::INTO, Keyword::OVERWRITE])? {
        Keyword::OVERWRITE => {
            let _ = parser.parse_keyword(Keyword::INTO);
            true
        }
        _ => false,
    };
    let target = parse_path(parser)?;
    let partition = if parser.parse_keyword(Keyword::PARTITION) {
        parser.expect_token(&Token::LParen)?;
        let values = parser.parse_comma_separated(|parser| {
            let column = parser.parse_identifier()?;
            parser.expect_token(&Token::Eq)?;
            Ok((column, parser.parse_expr()?))
        })?;
        parser.expect_token(&Token::RParen)?;
        values
    } else {
        Vec::new()
    };
    let columns = if begins_query(parser) {
        None
    } else {
        Some(parse_columns(parser)?)
    };
    let query = parser.parse_query()?;
    if peek_word(parser, "ON") && peek_nth_word(parser, 1, "CONFLICT") {
        let location = parser.peek_token_ref().span.start;
        return Err(error_at("ON CONFLICT is not supported", location));
    }
    Ok(Insert {
        target,
        overwrite,
        partition,
        columns,
        query,
    })
}

/// Whether a query follows, in brackets or not, rather than a list of columns.
fn begins_query(parser: &Parser) -> bool {
    let mut n = 0;
    while parser.peek_nth_token_ref(n).token == Token::LParen {
        n += 1;
    }
    let is_query = matches!(&parser.peek_nth_token_ref(n).token,
        Token::Word(w) if w.quote_style.is_none()
            && matches!(w.keyword, Keyword::SELECT | Keyword::VALUES | Keyword::WITH));
    n == 0 || is_query
}

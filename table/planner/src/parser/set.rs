//! `SET` and `RESET`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::cursor::parse_string;

/// `SET` or `SET 'key' = 'value'`.
pub(super) fn parse_set(parser: &mut Parser) -> Result<Option<(String, String)>, ParserError> {
    parser.expect_keyword(Keyword::SET)?;
    if is_end(parser) {
        return Ok(None);
    }
    let key = parse_string(parser)?;
    parser.expect_token(&Token::Eq)?;
    Ok(Some((key, parse_string(parser)?)))
}

/// `RESET` or `RESET 'key'`.
pub(super) fn parse_reset(parser: &mut Parser) -> Result<Option<String>, ParserError> {
    parser.expect_keyword(Keyword::RESET)?;
    if is_end(parser) {
        Ok(None)
    } else {
        parse_string(parser).map(Some)
    }
}

fn is_end(parser: &Parser) -> bool {
    matches!(parser.peek_token_ref().token, Token::EOF | Token::SemiColon)
}

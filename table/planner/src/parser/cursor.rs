//! Small readers shared by the statement forms.

use sqlparser::ast::Ident;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token};

use super::ast::{ExprSyntax, ObjectPathSyntax};

/// Takes an unquoted word that is no keyword of `sqlparser`, such as `WATERMARK`.
pub(super) fn parse_word(parser: &mut Parser, word: &str) -> bool {
    let found = peek_word(parser, word);
    if found {
        parser.next_token();
    }
    found
}

/// Whether the next token is this unquoted word.
pub(super) fn peek_word(parser: &Parser, word: &str) -> bool {
    peek_nth_word(parser, 0, word)
}

/// Whether the token `n` places ahead is this unquoted word.
pub(super) fn peek_nth_word(parser: &Parser, n: usize, word: &str) -> bool {
    matches!(&parser.peek_nth_token_ref(n).token,
        Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

/// Takes these unquoted words if they all follow.
pub(super) fn parse_words(parser: &mut Parser, words: &[&str]) -> bool {
    let found = words
        .iter()
        .enumerate()
        .all(|(n, word)| peek_nth_word(parser, n, word));
    if found {
        for _ in words {
            parser.next_token();
        }
    }
    found
}

/// Takes a word that must follow.
pub(super) fn expect_word(parser: &mut Parser, word: &str) -> Result<(), ParserError> {
    if parse_word(parser, word) {
        return Ok(());
    }
    let found = parser.peek_token();
    parser.expected(word, found)
}

/// Takes a path such as `c.d.t`.
pub(super) fn parse_path(parser: &mut Parser) -> Result<ObjectPathSyntax, ParserError> {
    let location = parser.peek_token_ref().span.start;
    let mut parts = vec![parser.parse_identifier()?];
    while parser.consume_token(&Token::Period) {
        parts.push(parser.parse_identifier()?);
    }
    Ok(ObjectPathSyntax { parts, location })
}

/// Takes `(a, b, ..)`.
pub(super) fn parse_columns(parser: &mut Parser) -> Result<Vec<Ident>, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let columns = parser.parse_comma_separated(Parser::parse_identifier)?;
    parser.expect_token(&Token::RParen)?;
    Ok(columns)
}

/// Takes a string in single quotes.
pub(super) fn parse_string(parser: &mut Parser) -> Result<String, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::SingleQuotedString(text) => Ok(text),
        _ => parser.expected("a string in single quotes", token),
    }
}

/// Takes `('key' = 'value', ..)`.
pub(super) fn parse_options(parser: &mut Parser) -> Result<Vec<(String, String)>, ParserError> {
    parser.expect_token(&Token::LParen)?;
    if parser.consume_token(&Token::RParen) {
        return Ok(Vec::new());
    }
    let options = parser.parse_comma_separated(|parser| {
        let key = parse_string(parser)?;
        parser.expect_token(&Token::Eq)?;
        Ok((key, parse_string(parser)?))
    })?;
    parser.expect_token(&Token::RParen)?;
    Ok(options)
}

/// Takes an expression and keeps its text.
pub(super) fn parse_expr_with_text(
    parser: &mut Parser,
    sql: &str,
) -> Result<ExprSyntax, ParserError> {
    let begin = parser.peek_token_ref().span.start;
    let expr = parser.parse_expr()?;
    let end = parser.get_current_token().span.end;
    Ok(ExprSyntax {
        expr,
        text: text_between(sql, begin, end),
    })
}

/// The text from `begin` to `end` (not with it).
pub(super) fn text_between(sql: &str, begin: Location, end: Location) -> String {
    let from = offset_of(sql, begin);
    let to = if end.line == 0 {
        sql.len()
    } else {
        offset_of(sql, end)
    };
    sql.get(from..to.max(from))
        .unwrap_or_default()
        .trim()
        .to_string()
}

/// The byte offset of a place.
fn offset_of(sql: &str, location: Location) -> usize {
    let (mut line, mut column) = (1, 1);
    for (offset, c) in sql.char_indices() {
        if (line, column) >= (location.line, location.column) {
            return offset;
        }
        if c == '\n' {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
    }
    sql.len()
}

//! Refuses, before parsing, text whose tree would be too deep to walk, and tokens that Flink's
//! dialect does not have.
//!
//! The parser limits nesting by itself, but builds `a + b + c + ..` as a tree as deep as the chain
//! is long. Here operators are counted per bracket, and the count starts anew at each comma.

use aquifer_table_common::{ParseError, Result, TextPosition, UnsupportedError};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Longest chain of operators other than AND, OR and UNION.
const MAX_CHAIN: usize = 400;
/// Longest chain of AND, OR and set operators.
const MAX_LOGICAL_CHAIN: usize = 4000;

/// Checks the tokens of a text.
pub(super) fn check_tokens(sql: &str, tokens: &[TokenWithSpan]) -> Result<()> {
    let at = |token: &TokenWithSpan| {
        TextPosition::of(sql, token.span.start.line, token.span.start.column)
    };
    let mut chains = vec![(0usize, 0usize)];
    for token in tokens {
        match &token.token {
            Token::DoubleQuotedString(_) => {
                return Err(ParseError::new(
                    "double quotes are not used in this dialect",
                    at(token),
                )
                .with_hint("Use 'single quotes' for strings and `back-quotes` for names.")
                .into());
            }
            Token::Whitespace(Whitespace::MultiLineComment(text)) if text.starts_with('+') => {
                return Err(UnsupportedError::new("a hint /*+ .. */")
                    .at(Some(at(token)))
                    .into());
            }
            Token::LParen | Token::LBracket => chains.push((0, 0)),
            Token::RParen | Token::RBracket if chains.len() > 1 => {
                chains.pop();
            }
            Token::Comma | Token::SemiColon => {
                if let Some(last) = chains.last_mut() {
                    *last = (0, 0);
                }
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && matches!(
                        w.keyword,
                        Keyword::AND
                            | Keyword::OR
                            | Keyword::UNION
                            | Keyword::INTERSECT
                            | Keyword::EXCEPT
                    ) =>
            {
                if let Some(last) = chains.last_mut() {
                    *last = (0, last.1 + 1);
                }
            }
            Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::StringConcat
            | Token::Eq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Period
            | Token::LongArrow
            | Token::Arrow
            | Token::ShiftLeft
            | Token::ShiftRight
            | Token::Caret
            | Token::Pipe
            | Token::Ampersand => {
                if let Some(last) = chains.last_mut() {
                    last.0 += 1;
                }
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && matches!(
                        w.keyword,
                        Keyword::IS | Keyword::LIKE | Keyword::BETWEEN | Keyword::IN | Keyword::NOT
                    ) =>
            {
                if let Some(last) = chains.last_mut() {
                    last.0 += 1;
                }
            }
            _ => {}
        }
        if chains
            .last()
            .is_some_and(|(other, logical)| *other > MAX_CHAIN || *logical > MAX_LOGICAL_CHAIN)
        {
            return Err(ParseError::new("too many operators in a row", at(token))
                .with_hint("Split the expression, or use IN (..) or a join with a table of values.")
                .into());
        }
    }
    Ok(())
}

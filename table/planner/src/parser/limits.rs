//! Refuses, before parsing, text whose tree would be too deep to walk, and tokens that Flink's
//! dialect does not have.
//!
//! The parser limits nesting by itself, but builds `a + b + c + ..` as a tree as deep as the chain
//! is long. Here operators are counted per bracket, on top of the longest chain in the brackets
//! before, and the count starts anew at each comma. CASE .. END counts as a bracket.

use aquifer_table_common::{ParseError, Result, TextPosition, UnsupportedError};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Longest chain of operators other than AND, OR and UNION.
const MAX_CHAIN: usize = 400;
/// Longest chain of AND, OR and set operators.
const MAX_LOGICAL_CHAIN: usize = 4000;

/// The operators so far in one bracket.
#[derive(Default)]
struct Chain {
    operators: usize,
    logical: usize,
    /// The longest chain before the last comma, AND, OR, WHEN, THEN or ELSE.
    longest: usize,
    /// Whether the bracket holds a query, which is no operand.
    is_query: bool,
    /// Whether it is no bracket but CASE .. END.
    is_case: bool,
}

impl Chain {
    fn begin_again(&mut self) {
        self.longest = self.longest.max(self.operators);
        self.operators = 0;
        self.logical = 0;
    }
}

/// Ends a bracket; what it holds is one operand of those around it.
fn close(chains: &mut Vec<Chain>) {
    let inner = chains.pop().unwrap_or_default();
    if let Some(last) = chains.last_mut().filter(|_| !inner.is_query) {
        last.operators = last.operators.max(inner.longest).max(inner.operators);
    }
}

/// Checks the tokens of a text.
pub(super) fn check_tokens(sql: &str, tokens: &[TokenWithSpan]) -> Result<()> {
    let at = |token: &TokenWithSpan| {
        TextPosition::of(sql, token.span.start.line, token.span.start.column)
    };
    let mut chains = vec![Chain::default()];
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
            Token::LParen | Token::LBracket => chains.push(Chain::default()),
            Token::RParen | Token::RBracket if chains.len() > 1 => close(&mut chains),
            Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::CASE => {
                chains.push(Chain {
                    is_case: true,
                    ..Chain::default()
                });
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && w.keyword == Keyword::END
                    && chains.last().is_some_and(|chain| chain.is_case) =>
            {
                close(&mut chains);
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && matches!(w.keyword, Keyword::WHEN | Keyword::THEN | Keyword::ELSE) =>
            {
                if let Some(last) = chains.last_mut() {
                    last.begin_again();
                }
            }
            Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::SELECT => {
                if let Some(last) = chains.last_mut() {
                    last.is_query = true;
                }
            }
            Token::Comma | Token::SemiColon => {
                if let Some(last) = chains.last_mut() {
                    last.begin_again();
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
                    last.logical += 1;
                    let logical = last.logical;
                    last.begin_again();
                    last.logical = logical;
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
                    last.operators += 1;
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
                    last.operators += 1;
                }
            }
            _ => {}
        }
        if chains
            .last()
            .is_some_and(|chain| chain.operators > MAX_CHAIN || chain.logical > MAX_LOGICAL_CHAIN)
        {
            return Err(ParseError::new("too many operators in a row", at(token))
                .with_hint("Split the expression, or use IN (..) or a join with a table of values.")
                .into());
        }
    }
    Ok(())
}

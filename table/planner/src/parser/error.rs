//! `sqlparser`'s errors as [`ParseError`]s with line, column and the line itself.

use aquifer_table_common::{ParseError, TableError, TextPosition};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, TokenizerError};

/// The error of the tokenizer.
pub(super) fn tokenizer_error(sql: &str, error: &TokenizerError) -> TableError {
    let position = TextPosition::of(
        sql,
        error.location.line.max(1),
        error.location.column.max(1),
    );
    ParseError::new(lower_first(&error.message), position).into()
}

/// The error of the parser, whose place is written at the end of its text.
pub(super) fn parser_error(sql: &str, error: &ParserError) -> TableError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => {
            return ParseError::new("the statement nests too deep", TextPosition::of(sql, 1, 1))
                .with_hint("Split it into views.")
                .into();
        }
    };
    let (message, location) = split_location(text);
    let position = match location {
        Some(location) => found_position(sql, message, location),
        None => TextPosition::end_of(sql),
    };
    let message = message
        .replacen("Expected: ", "expected ", 1)
        .replacen("found: EOF", "found the end of the text", 1)
        .replacen("found: ", "found ", 1);
    ParseError::new(lower_first(&message), position).into()
}

/// A parse error of our own at a place.
pub(super) fn error_at(message: &str, location: Location) -> ParserError {
    ParserError::ParserError(format!("{message}{location}"))
}

/// The place of the token that a message says was found. `sqlparser` sometimes names the token after
/// it; then the token stands right in front of that place on the same line.
fn found_position(sql: &str, message: &str, location: Location) -> TextPosition {
    let at = TextPosition::of(sql, location.line, location.column);
    let Some((_, found)) = message.rsplit_once("found: ") else {
        return at;
    };
    let index = usize::try_from(at.column.saturating_sub(1)).unwrap_or(usize::MAX);
    let before: String = at.text.chars().take(index).collect();
    let after: String = at.text.chars().skip(index).collect();
    match before.trim_end().strip_suffix(found) {
        Some(head) if !after.starts_with(found) => TextPosition {
            column: head.chars().count() as u64 + 1,
            ..at
        },
        _ => at,
    }
}

fn split_location(text: &str) -> (&str, Option<Location>) {
    let parse = || {
        let (message, place) = text.rsplit_once(" at Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        let location = Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?);
        Some((message, location))
    };
    match parse() {
        Some((message, location)) => (message, Some(location)),
        None => (text, None),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    match (chars.next(), chars.clone().next()) {
        // Keep words that are all upper case, such as SQL keywords.
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

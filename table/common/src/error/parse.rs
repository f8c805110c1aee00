//! SQL text that cannot be read.

use super::TextPosition;

/// SQL text that cannot be read: what was expected, what was found, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("SQL parse failed: {message} (line {}, column {})", position.line, position.column)]
pub struct ParseError {
    /// What was expected and what was found.
    pub message: String,
    /// Where.
    pub position: TextPosition,
    /// What to write instead, if known.
    pub hint: Option<String>,
}

impl ParseError {
    /// A parse error at a position.
    pub fn new(message: impl Into<String>, position: TextPosition) -> Self {
        ParseError {
            message: message.into(),
            position,
            hint: None,
        }
    }

    /// The same error with advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

//! Constructs that are valid but not offered.

use super::TextPosition;

/// A construct that is valid in the reference but not offered here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{feature} is not supported")]
pub struct UnsupportedError {
    /// The construct.
    pub feature: String,
    /// Where it stands in the SQL text, if it came from one.
    pub position: Option<TextPosition>,
    /// What to use instead.
    pub alternative: Option<String>,
}

impl UnsupportedError {
    /// The construct `feature` is not offered.
    pub fn new(feature: impl Into<String>) -> Self {
        UnsupportedError {
            feature: feature.into(),
            position: None,
            alternative: None,
        }
    }

    /// The same error with its place.
    pub fn at(mut self, position: Option<TextPosition>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// The same error with what to use instead.
    pub fn instead(mut self, alternative: impl Into<String>) -> Self {
        self.alternative = Some(alternative.into());
        self
    }
}

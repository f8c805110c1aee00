//! Compiled regular expressions.

use std::sync::{Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use crate::error::{FunctionError, Result};

/// A compiled expression may take this much memory.
const SIZE_LIMIT: usize = 1 << 20;

/// Compiles an expression.
pub(super) fn compile(pattern: &str) -> Result<Regex> {
    RegexBuilder::new(pattern)
        .size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| FunctionError::runtime(format!("regular expression '{pattern}': {error}")))
}

/// The last expression of a column: it hardly ever changes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    last: Mutex<Option<(String, Regex)>>,
}

impl Cache {
    /// Returns the compiled expression.
    pub(super) fn get(&self, pattern: &str) -> Result<Regex> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((known, regex)) if known == pattern => Ok(regex.clone()),
            _ => {
                let regex = compile(pattern)?;
                *last = Some((pattern.to_owned(), regex.clone()));
                Ok(regex)
            }
        }
    }
}

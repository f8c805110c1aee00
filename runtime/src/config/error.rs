//! What can be wrong with a configuration.

use thiserror::Error;

use crate::error::error_codes;

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// No option has this key.
    #[error("option '{key}' does not exist{}", did_you_mean(near))]
    UnknownOption {
        /// The key asked for.
        key: String,
        /// Keys that look like it, nearest first.
        near: Vec<String>,
    },
    /// The text is no value of the option's type.
    #[error("option '{key}' has value '{value}', which is not a {expected}: {reason}")]
    InvalidValue {
        /// The option's key.
        key: String,
        /// The value, masked when the option holds a secret.
        value: String,
        /// Name of the expected type.
        expected: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An option without a default is needed and not set.
    #[error("option '{key}' must be set: {description}")]
    Missing {
        /// The option's key.
        key: String,
        /// What it is for.
        description: String,
    },
    /// A line of a configuration file cannot be understood.
    #[error("configuration file '{path}', line {line}: {reason}")]
    Syntax {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to write instead.
        reason: String,
    },
    /// Several options do not fit together.
    #[error("{message}")]
    Conflict {
        /// Which options, why, and what to do.
        message: String,
    },
}

error_codes!(ConfigurationError {
    UnknownOption => "configuration.unknown_option",
    InvalidValue => "configuration.invalid_value",
    Missing => "configuration.missing",
    Syntax => "configuration.syntax",
    Conflict => "configuration.conflict",
});

/// `; did you mean 'a' or 'b'?`, or nothing when no name is near.
fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<_> = near.iter().map(|name| format!("'{name}'")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

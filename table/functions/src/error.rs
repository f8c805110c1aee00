//! What can go wrong when expressions are resolved, compiled or evaluated.

use aquifer_types::TypesError;
use thiserror::Error;

/// An error of a function or expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// No function has the name.
    #[error("function '{name}' does not exist")]
    UnknownFunction {
        /// The name asked for.
        name: String,
        /// Names that are near, best first.
        near: Vec<String>,
    },
    /// A function does not take arguments of these types.
    #[error("function '{function}' does not take arguments ({arguments})")]
    InvalidArguments {
        /// The function's name.
        function: String,
        /// The types found.
        arguments: String,
        /// The signatures that are accepted.
        signatures: Vec<String>,
    },
    /// A cast between two types does not exist.
    #[error("a value of type {from} cannot be cast to {to}")]
    UnsupportedCast {
        /// The type of the value.
        from: String,
        /// The type asked for.
        to: String,
    },
    /// Branches or elements have no type in common.
    #[error("{what} have no common type: {types}")]
    NoCommonType {
        /// What has the types: `results of CASE`, for example.
        what: &'static str,
        /// The types.
        types: String,
    },
    /// An argument must be a literal of certain values.
    #[error("argument {position} of function '{function}' {message}")]
    InvalidLiteral {
        /// The function's name.
        function: String,
        /// Position from one.
        position: usize,
        /// What it must be and is.
        message: String,
    },
    /// A function failed on a row.
    #[error("{function}: {message}")]
    Runtime {
        /// The function's name.
        function: String,
        /// What failed, with the value.
        message: String,
    },
    /// A column that an expression reads does not exist in the batch.
    #[error("expression reads column {index}, but the input has {columns} columns")]
    MissingInput {
        /// Index of the column.
        index: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A type or value is wrong.
    #[error(transparent)]
    Types(#[from] TypesError),
}

impl FunctionError {
    /// Returns the stable code of this kind of error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownFunction { .. } => "function.unknown",
            Self::InvalidArguments { .. } => "function.invalid_arguments",
            Self::UnsupportedCast { .. } => "function.unsupported_cast",
            Self::NoCommonType { .. } => "function.no_common_type",
            Self::InvalidLiteral { .. } => "function.invalid_literal",
            Self::Runtime { .. } => "function.runtime",
            Self::MissingInput { .. } => "function.missing_input",
            Self::Types(error) => error.code(),
        }
    }

    /// Returns what to do about it, if something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFunction { near, .. } if !near.is_empty() => {
                Some(format!("Did you mean {}?", near.join(" or ")))
            }
            Self::InvalidArguments { signatures, .. } => {
                Some(format!("Accepted: {}.", signatures.join(", ")))
            }
            Self::UnsupportedCast { .. } | Self::NoCommonType { .. } => Some(
                "Convert the values with CAST on the way to a type both can become.".to_owned(),
            ),
            _ => None,
        }
    }

    /// Makes a run time error; the evaluator adds the function's name.
    pub fn runtime(message: impl Into<String>) -> Self {
        Self::Runtime {
            function: String::new(),
            message: message.into(),
        }
    }

    /// Fills in the function's name where a kernel left it open.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        match self {
            Self::Runtime { function, message } if function.is_empty() => Self::Runtime {
                function: name.to_owned(),
                message,
            },
            other => other,
        }
    }
}

impl From<arrow_schema::ArrowError> for FunctionError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Types(error.into())
    }
}

/// The result of this package's fallible functions.
pub type Result<T, E = FunctionError> = std::result::Result<T, E>;

//! Types or columns that do not fit.

use aquifer_types::TypesError;

use super::TextPosition;

/// Types or columns that do not fit, with the place if it came from a SQL text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SchemaError {
    /// What does not fit.
    pub kind: SchemaErrorKind,
    /// Where, if it came from a SQL text.
    pub position: Option<TextPosition>,
}

/// The kinds of [`SchemaError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// A value of one type where another is wanted.
    #[error("{what} has type {found}, but {expected} is wanted")]
    TypeMismatch {
        /// The thing: `column 'a'`, `the WHERE condition`.
        what: String,
        /// The wanted type.
        expected: String,
        /// The type it has.
        found: String,
    },
    /// Types without a common supertype.
    #[error("{what} have no common type: {types}")]
    NoCommonType {
        /// The things: `the operands of '='`.
        what: String,
        /// Their types.
        types: String,
    },
    /// A cast that does not exist.
    #[error("cannot cast {from} to {to}")]
    InvalidCast {
        /// The source type.
        from: String,
        /// The target type.
        to: String,
    },
    /// Two inputs with a different number of columns.
    #[error("{what}: expected {expected} columns, found {found}")]
    ColumnCount {
        /// The construct: `UNION ALL`, `INSERT INTO sink 'x'`.
        what: String,
        /// Wanted number.
        expected: usize,
        /// Found number.
        found: usize,
    },
    /// A type text or a type parameter that is not valid.
    #[error("type '{text}' is not valid: {reason}")]
    InvalidType {
        /// The type as written.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A literal that its type cannot hold.
    #[error("literal {literal} is not valid: {reason}")]
    InvalidLiteral {
        /// The literal as written.
        literal: String,
        /// What is wrong.
        reason: String,
    },
    /// A schema declaration that contradicts itself.
    #[error("schema is not valid: {reason}")]
    InvalidSchema {
        /// What is wrong.
        reason: String,
    },
    /// An error of the type layer, such as a text that is no type.
    #[error(transparent)]
    Types(#[from] TypesError),
}

impl SchemaErrorKind {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TypeMismatch { .. } => "schema.type_mismatch",
            Self::NoCommonType { .. } => "schema.no_common_type",
            Self::InvalidCast { .. } => "schema.invalid_cast",
            Self::ColumnCount { .. } => "schema.column_count",
            Self::InvalidType { .. } => "schema.invalid_type",
            Self::InvalidLiteral { .. } => "schema.invalid_literal",
            Self::InvalidSchema { .. } => "schema.invalid_schema",
            Self::Types(e) => e.code(),
        }
    }

    /// What to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TypeMismatch { expected, .. } => {
                Some(format!("Convert it with CAST(... AS {expected})."))
            }
            Self::NoCommonType { .. } => Some("Convert one side with CAST.".to_string()),
            _ => None,
        }
    }
}

impl SchemaError {
    /// The same error with its place, unless it has one.
    pub fn at(mut self, position: Option<TextPosition>) -> Self {
        self.position = self.position.or(position);
        self
    }
}

impl From<SchemaErrorKind> for SchemaError {
    fn from(kind: SchemaErrorKind) -> Self {
        SchemaError {
            kind,
            position: None,
        }
    }
}

impl From<TypesError> for SchemaError {
    fn from(error: TypesError) -> Self {
        SchemaErrorKind::Types(error).into()
    }
}

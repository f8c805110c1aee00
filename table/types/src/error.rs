//! What can go wrong with types, values and batches.
//!
//! Each kind has a stable dotted code; texts may improve, codes may not change.

use thiserror::Error;

/// An error about a type, a value or a batch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TypesError {
    /// A type string is not a type.
    #[error("cannot parse type '{text}' at position {position}: {message}")]
    ParseType {
        /// The whole text.
        text: String,
        /// Zero-based position in characters where the trouble starts.
        position: usize,
        /// What was expected or found.
        message: String,
    },
    /// A parameter of a type (length, precision, scale) is out of its range.
    #[error("{what} of type {type_name} must be between {min} and {max}, but is {found}")]
    Parameter {
        /// `length`, `precision` or `scale`.
        what: &'static str,
        /// The type's name.
        type_name: &'static str,
        /// Smallest allowed value.
        min: u32,
        /// Largest allowed value.
        max: u32,
        /// The value found.
        found: u32,
    },
    /// A value does not belong to a column's type.
    #[error("value '{value}' of kind {kind} does not fit type {data_type}")]
    ValueMismatch {
        /// The value as text.
        value: String,
        /// The value's kind.
        kind: &'static str,
        /// The type of the column.
        data_type: String,
    },
    /// NULL was given where the type forbids it.
    #[error("NULL is not allowed in a column of type {data_type}")]
    UnexpectedNull {
        /// The type of the column.
        data_type: String,
    },
    /// A row or batch has another number of columns than its type.
    #[error("expected {expected} columns, but found {found}")]
    ColumnCount {
        /// Number of columns of the type.
        expected: usize,
        /// Number of columns of the row or batch.
        found: usize,
    },
    /// Columns or weights of a batch differ in length.
    #[error("column {column} has {found} rows, but the batch has {expected}")]
    ColumnLength {
        /// Index of the column; the number of columns stands for the weights.
        column: usize,
        /// Rows of the batch.
        expected: usize,
        /// Rows of the column.
        found: usize,
    },
    /// A field name does not occur in a row.
    #[error("field '{name}' does not exist in the row; its fields are {fields}")]
    UnknownField {
        /// The name asked for.
        name: String,
        /// The names that exist.
        fields: String,
    },
    /// Bytes are not an encoded batch of the given types.
    #[error("corrupt batch bytes at offset {offset}: {message}")]
    Decode {
        /// Offset of the first byte that was not understood.
        offset: usize,
        /// What was expected.
        message: String,
    },
    /// A text is not a value of a type.
    #[error("cannot read '{text}' as {type_name}")]
    ParseValue {
        /// The text.
        text: String,
        /// The type's name.
        type_name: String,
    },
    /// A result does not fit its type.
    #[error("value '{value}' is out of the range of {type_name}")]
    OutOfRange {
        /// The value as text.
        value: String,
        /// The type's name.
        type_name: String,
    },
    /// Arrow has a type that has no logical type here.
    #[error("arrow type {arrow_type} has no logical type")]
    UnsupportedArrowType {
        /// The Arrow type as text.
        arrow_type: String,
    },
    /// An Arrow kernel refused.
    #[error("arrow: {message}")]
    Arrow {
        /// Arrow's message.
        message: String,
    },
}

impl TypesError {
    /// Returns the stable code of this kind of error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ParseType { .. } => "types.parse_type",
            Self::Parameter { .. } => "types.parameter",
            Self::ValueMismatch { .. } => "types.value_mismatch",
            Self::UnexpectedNull { .. } => "types.unexpected_null",
            Self::ColumnCount { .. } => "types.column_count",
            Self::ColumnLength { .. } => "types.column_length",
            Self::UnknownField { .. } => "types.unknown_field",
            Self::Decode { .. } => "types.decode",
            Self::ParseValue { .. } => "types.parse_value",
            Self::OutOfRange { .. } => "types.out_of_range",
            Self::UnsupportedArrowType { .. } => "types.unsupported_arrow_type",
            Self::Arrow { .. } => "types.arrow",
        }
    }
}

impl From<arrow_schema::ArrowError> for TypesError {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Arrow {
            message: error.to_string(),
        }
    }
}

/// The result of this package's fallible functions.
pub type Result<T, E = TypesError> = std::result::Result<T, E>;

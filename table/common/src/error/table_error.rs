//! The error of every call of the table layer.

use std::fmt;

use aquifer_functions::FunctionError;
use aquifer_runtime::RuntimeError;
use aquifer_types::TypesError;

use super::{
    CatalogError, ExecutionError, IoError, ParseError, PlanError, SchemaError, SchemaErrorKind,
    TextPosition, UnsupportedError, ValidationError, ValidationErrorKind,
};

/// Result of a call of the table layer.
pub type Result<T, E = TableError> = std::result::Result<T, E>;

/// The error of every call of the table layer, one variant per area.
///
/// `Display` is the message alone, `Debug` is the whole [`report`](TableError::report).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Wrong use of the API or of a name.
    #[error(transparent)]
    Validation(Box<ValidationError>),
    /// SQL text that cannot be read.
    #[error(transparent)]
    Parse(Box<ParseError>),
    /// Types or columns that do not fit.
    #[error(transparent)]
    Schema(Box<SchemaError>),
    /// A catalog or its objects.
    #[error(transparent)]
    Catalog(Box<CatalogError>),
    /// A plan that cannot be made, read or used.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// A construct that is not offered.
    #[error(transparent)]
    Unsupported(Box<UnsupportedError>),
    /// A job that failed.
    #[error(transparent)]
    Execution(Box<ExecutionError>),
    /// A file or address that cannot be used.
    #[error(transparent)]
    Io(Box<IoError>),
}

impl TableError {
    /// The stable dotted word of this kind of error, such as `validation.unknown_column`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Validation(e) => e.kind.code(),
            Self::Parse(_) => "parse.syntax",
            Self::Schema(e) => e.kind.code(),
            Self::Catalog(e) => e.code(),
            Self::Plan(e) => e.code(),
            Self::Unsupported(_) => "unsupported.feature",
            Self::Execution(e) => e.code(),
            Self::Io(e) => e.code(),
        }
    }

    /// The place in the SQL text, if the error came from one.
    pub fn position(&self) -> Option<&TextPosition> {
        match self {
            Self::Validation(e) => e.position.as_ref(),
            Self::Parse(e) => Some(&e.position),
            Self::Schema(e) => e.position.as_ref(),
            Self::Unsupported(e) => e.position.as_ref(),
            _ => None,
        }
    }

    /// The same error with its place, unless it has one or its area knows none.
    pub fn at(self, position: Option<TextPosition>) -> Self {
        match self {
            Self::Validation(e) => Self::Validation(Box::new(e.at(position))),
            Self::Schema(e) => Self::Schema(Box::new(e.at(position))),
            Self::Unsupported(e) => Self::Unsupported(Box::new(e.at(position))),
            other => other,
        }
    }

    /// What was seen: the place in the SQL text and more, if there is more than the message.
    pub fn detail(&self) -> Option<String> {
        let more = match self {
            Self::Validation(e) => e.kind.detail(),
            _ => None,
        };
        match (self.position().map(ToString::to_string), more) {
            (Some(at), Some(more)) => Some(format!("{at}\n{more}")),
            (at, more) => at.or(more),
        }
    }

    /// What to do, if known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Validation(e) => e.kind.hint(),
            Self::Parse(e) => e.hint.clone(),
            Self::Schema(e) => e.kind.hint(),
            Self::Catalog(e) => e.hint(),
            Self::Plan(e) => e.hint(),
            Self::Unsupported(e) => e.alternative.clone(),
            Self::Execution(_) | Self::Io(_) => None,
        }
    }

    /// Message, code, detail, causes and hint in one text for a person.
    pub fn report(&self) -> String {
        let mut text = format!("{self} [{}]", self.code());
        if let Some(detail) = self.detail() {
            text.push('\n');
            text.push_str(&detail);
        }
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let shown = error.to_string();
            if !text.contains(&shown) {
                text.push_str(&format!("\ncaused by: {shown}"));
            }
            cause = error.source();
        }
        if let Some(hint) = self.hint() {
            text.push('\n');
            text.push_str(&hint);
        }
        text
    }
}

impl fmt::Debug for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report())
    }
}

macro_rules! area {
    ($($variant:ident: $($error:ty),+);+ $(;)?) => {$($(
        impl From<$error> for TableError {
            fn from(error: $error) -> Self {
                TableError::$variant(Box::new(error.into()))
            }
        }
    )+)+};
}

area! {
    Validation: ValidationError, ValidationErrorKind;
    Parse: ParseError;
    Schema: SchemaError, SchemaErrorKind, TypesError;
    Catalog: CatalogError;
    Plan: PlanError;
    Unsupported: UnsupportedError;
    Execution: ExecutionError;
    Io: IoError;
}

impl From<FunctionError> for TableError {
    fn from(error: FunctionError) -> Self {
        match error {
            FunctionError::UnknownFunction { name, near } => ValidationErrorKind::UnknownFunction {
                function: name,
                candidates: near,
            }
            .into(),
            FunctionError::InvalidArguments {
                function,
                arguments,
                signatures,
            } => ValidationErrorKind::InvalidArguments {
                function,
                arguments,
                signatures,
            }
            .into(),
            FunctionError::UnsupportedCast { from, to } => {
                SchemaErrorKind::InvalidCast { from, to }.into()
            }
            FunctionError::NoCommonType { what, types } => SchemaErrorKind::NoCommonType {
                what: what.to_string(),
                types,
            }
            .into(),
            FunctionError::Types(error) => error.into(),
            other => ValidationErrorKind::InvalidClause {
                hint: other.hint(),
                message: other.to_string(),
            }
            .into(),
        }
    }
}

impl From<RuntimeError> for TableError {
    fn from(error: RuntimeError) -> Self {
        ExecutionError::caused_by(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_message_place_and_hint() {
        let error: TableError = ValidationErrorKind::UnknownColumn {
            column: "prise".into(),
            tables: vec!["orders".into()],
            candidates: vec!["id".into(), "price".into()],
        }
        .into();
        let error = error.at(Some(TextPosition::of("SELECT prise FROM orders", 1, 8)));
        assert_eq!(error.code(), "validation.unknown_column");
        assert_eq!(
            error.to_string(),
            "column 'prise' does not exist in table 'orders'"
        );
        assert_eq!(
            format!("{error:?}"),
            "column 'prise' does not exist in table 'orders' [validation.unknown_column]\n\
             line 1, column 8:\n  SELECT prise FROM orders\n         ^\n\
             Did you mean 'price'?"
        );
    }

    #[test]
    fn causes_are_joined_once() {
        let io = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error: TableError = IoError::new("read", "/no/such/file", io).into();
        assert_eq!(error.code(), "io.not_found");
        assert_eq!(error.report().matches("caused by").count(), 1, "{error:?}");
    }
}

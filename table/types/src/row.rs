//! A record at the border of the table layer, with its kind of change.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Result, TypesError};
use crate::row_kind::RowKind;
use crate::value::Value;

/// A record: a kind of change, fields by position, and field names if they are known.
///
/// Equality, order and hash compare kind and fields; names are a convenience.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Row {
    kind: RowKind,
    fields: Vec<Value>,
    names: Option<Arc<[String]>>,
    /// Made by names: the names are what prints, not positions.
    by_name: bool,
}

impl Row {
    /// Makes an inserted row.
    #[must_use]
    pub fn of(fields: Vec<Value>) -> Self {
        Self::of_kind(RowKind::Insert, fields)
    }

    /// Makes a row of a kind.
    #[must_use]
    pub fn of_kind(kind: RowKind, fields: Vec<Value>) -> Self {
        Self {
            kind,
            fields,
            names: None,
            by_name: false,
        }
    }

    /// Makes an inserted row of `arity` NULLs.
    #[must_use]
    pub fn with_positions(arity: usize) -> Self {
        Self::of(vec![Value::Null; arity])
    }

    /// Makes a row with named fields; missing values are NULL, surplus values are dropped.
    #[must_use]
    pub fn with_names(names: Arc<[String]>, mut fields: Vec<Value>) -> Self {
        fields.resize(names.len(), Value::Null);
        Self {
            kind: RowKind::Insert,
            fields,
            names: Some(names),
            by_name: true,
        }
    }

    /// Returns this row with field names beside the positions, if there is one for each field.
    /// It still prints by position.
    #[must_use]
    pub fn named(mut self, names: Arc<[String]>) -> Self {
        self.names = (names.len() == self.fields.len()).then_some(names);
        self
    }

    /// Returns the kind of change.
    #[must_use]
    pub fn kind(&self) -> RowKind {
        self.kind
    }

    /// Sets the kind of change.
    pub fn set_kind(&mut self, kind: RowKind) {
        self.kind = kind;
    }

    /// Returns this row with another kind.
    #[must_use]
    pub fn with_kind(self, kind: RowKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.fields.len()
    }

    /// Returns all fields.
    #[must_use]
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }

    /// Returns all fields, consuming the row.
    #[must_use]
    pub fn into_fields(self) -> Vec<Value> {
        self.fields
    }

    /// Returns the field names, if known.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns the field at a position.
    #[must_use]
    pub fn field(&self, position: usize) -> Option<&Value> {
        self.fields.get(position)
    }

    /// Returns the field of a name.
    #[must_use]
    pub fn field_by_name(&self, name: &str) -> Option<&Value> {
        let position = self.names.as_ref()?.iter().position(|n| n == name)?;
        self.fields.get(position)
    }

    /// Returns the field at a position as a Rust type.
    ///
    /// # Errors
    /// `types.column_count` if there is no such field, `types.value_mismatch` if it has another
    /// type or is NULL (ask for `Value` then).
    pub fn field_as<T: TryFrom<Value, Error: Into<TypesError>>>(
        &self,
        position: usize,
    ) -> Result<T> {
        let value = self.fields.get(position).ok_or(TypesError::ColumnCount {
            expected: position + 1,
            found: self.fields.len(),
        })?;
        T::try_from(value.clone()).map_err(Into::into)
    }

    /// Sets the field at a position.
    ///
    /// # Errors
    /// `types.column_count` if there is no such field.
    pub fn set_field(&mut self, position: usize, value: impl Into<Value>) -> Result<()> {
        let found = self.fields.len();
        let field = self
            .fields
            .get_mut(position)
            .ok_or(TypesError::ColumnCount {
                expected: position + 1,
                found,
            })?;
        *field = value.into();
        Ok(())
    }

    /// Returns a row of the fields at the given positions, of the same kind.
    ///
    /// # Errors
    /// `types.column_count` if a position does not exist.
    pub fn project(&self, positions: &[usize]) -> Result<Self> {
        let missing = |p: &usize| TypesError::ColumnCount {
            expected: p + 1,
            found: self.arity(),
        };
        let fields = positions
            .iter()
            .map(|p| self.fields.get(*p).cloned().ok_or_else(|| missing(p)))
            .collect::<Result<_>>()?;
        let names = self
            .names
            .as_ref()
            .map(|n| positions.iter().map(|p| n[*p].clone()).collect());
        Ok(Self {
            kind: self.kind,
            fields,
            names,
            by_name: self.by_name,
        })
    }

    /// Returns a row of this row's fields followed by another's, of this row's kind.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.names = match (self.names, other.names) {
            (Some(a), Some(b)) => Some(a.iter().chain(b.iter()).cloned().collect()),
            _ => None,
        };
        self.fields.extend(other.fields);
        self
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.fields == other.fields
    }
}

impl Eq for Row {}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Row {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.fields
            .cmp(&other.fields)
            .then(self.kind.cmp(&other.kind))
    }
}

impl std::hash::Hash for Row {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.fields.hash(state);
    }
}

impl fmt::Display for Row {
    /// `+I[12, Alice]`, or `+I{id=12, name=Alice}` for a row made by names, as Flink prints rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.by_name && self.names.is_some() {
            ('{', '}')
        } else {
            ('[', ']')
        };
        write!(f, "{}{open}", self.kind)?;
        for (i, field) in self.fields.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            let names = self.names.as_ref().filter(|_| self.by_name);
            if let Some(name) = names.and_then(|names| names.get(i)) {
                write!(f, "{name}=")?;
            }
            field.fmt(f)?;
        }
        write!(f, "{close}")
    }
}

/// Makes a `Vec<Value>` of anything that converts into [`Value`].
///
/// ```
/// use aquifer_types::{Row, row_values};
/// assert_eq!(Row::of(row_values!["Alice", 12]).to_string(), "+I[Alice, 12]");
/// ```
#[macro_export]
macro_rules! row_values {
    ($($value:expr),* $(,)?) => {
        ::std::vec![$($crate::Value::from($value)),*]
    };
}

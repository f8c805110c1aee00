//! The columns of a Rust type.

use aquifer_table_common::{Result, SchemaErrorKind};
use aquifer_types::{DataType, Field};
use serde::de::DeserializeOwned;

use super::tracer::{Shape, trace};

/// The columns of a Rust type, and how its values hold them.
#[derive(Debug, Clone)]
pub(crate) struct RecordType {
    /// The columns.
    pub(crate) fields: Vec<Field>,
    /// Whether the fields of a value are the columns; else the value itself is the only column.
    pub(crate) is_record: bool,
    /// The type's name, for messages.
    pub(crate) rust_type: &'static str,
}

impl RecordType {
    /// The columns of `T`.
    ///
    /// # Errors
    /// `schema.invalid_type` for types that are no columns, such as enums; the message names the field.
    pub(crate) fn of<T: DeserializeOwned>() -> Result<Self> {
        let rust_type = std::any::type_name::<T>();
        let traced = trace::<T>().map_err(|reason| SchemaErrorKind::InvalidType {
            text: rust_type.to_string(),
            reason,
        })?;
        Ok(match traced.shape {
            Shape::Record(fields) if !traced.nullable => RecordType {
                fields,
                is_record: true,
                rust_type,
            },
            _ => {
                let fields = vec![Field::new("f0", traced.data_type())];
                RecordType {
                    fields,
                    is_record: false,
                    rust_type,
                }
            }
        })
    }

    /// The types of the columns.
    pub(crate) fn types(&self) -> Vec<DataType> {
        self.fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }
}

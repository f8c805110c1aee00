//! Values of a Rust type to columns and back.

use std::marker::PhantomData;
use std::sync::Arc;

use aquifer_runtime::{Result, RuntimeError};
use aquifer_types::{DataType, Field};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field as ArrowField, FieldRef};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_arrow::utils::{Item, Items};
use serde_arrow::{ArrayBuilder, Deserializer};

use super::RecordType;

/// What `serde_arrow` calls the only column of a plain value.
const ITEM: &str = "item";

/// The Arrow fields of columns. All are nullable, as all columns are physically.
fn arrow_fields(record: &RecordType, types: &[DataType]) -> Vec<FieldRef> {
    let field = |(field, data_type): (&Field, &DataType)| {
        let name = if record.is_record {
            field.name.as_str()
        } else {
            ITEM
        };
        Arc::new(ArrowField::new(name, data_type.to_arrow(), true))
    };
    record.fields.iter().zip(types).map(field).collect()
}

/// Builds columns from values.
pub(crate) struct ColumnWriter<T> {
    builder: ArrayBuilder,
    is_record: bool,
    values: PhantomData<fn(T)>,
}

impl<T: Serialize> ColumnWriter<T> {
    /// A writer of the record's columns, with the physical types `types`: the record's own, or others that its
    /// values can be read as, such as a TIMESTAMP from text.
    pub(crate) fn new(record: &RecordType, types: &[DataType]) -> Result<Self> {
        let builder = ArrayBuilder::from_arrow(&arrow_fields(record, types))
            .map_err(RuntimeError::internal)?;
        Ok(ColumnWriter {
            builder,
            is_record: record.is_record,
            values: PhantomData,
        })
    }

    /// The columns of `values`.
    ///
    /// # Errors
    /// A value that its column cannot hold; the message names the field. Drop the writer then.
    pub(crate) fn write(&mut self, values: &[T]) -> Result<Vec<ArrayRef>> {
        let failed = |error: serde_arrow::Error| {
            let rust_type = std::any::type_name::<T>();
            RuntimeError::user(format!(
                "cannot convert a value of type {rust_type} to columns: {error}"
            ))
        };
        self.builder.reserve(values.len());
        for value in values {
            if self.is_record {
                self.builder.push(value).map_err(failed)?;
            } else {
                self.builder.push(Item(value)).map_err(failed)?;
            }
        }
        self.builder.to_arrow().map_err(failed)
    }
}

/// Reads values from columns.
pub(crate) struct ColumnReader<T> {
    record: RecordType,
    fields: Vec<FieldRef>,
    values: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> ColumnReader<T> {
    /// A reader of columns of the physical types `types`, one per column of the record.
    pub(crate) fn new(record: &RecordType, types: &[DataType]) -> Self {
        ColumnReader {
            record: record.clone(),
            fields: arrow_fields(record, types),
            values: PhantomData,
        }
    }

    /// The values in `columns`.
    ///
    /// # Errors
    /// NULL where the type has no Option, and values out of its range; the message names the field.
    pub(crate) fn read(&self, columns: &[ArrayRef]) -> Result<Vec<T>> {
        let rust_type = self.record.rust_type;
        for (field, column) in self.record.fields.iter().zip(columns) {
            if !field.data_type.nullable && column.null_count() > 0 {
                return Err(RuntimeError::user(format!(
                    "column '{}' is NULL, but the field of type {rust_type} is no Option",
                    field.name
                )));
            }
        }
        let read = || -> serde_arrow::Result<Vec<T>> {
            let deserializer = Deserializer::from_arrow(&self.fields, columns)?;
            if self.record.is_record {
                Vec::<T>::deserialize(deserializer)
            } else {
                Ok(Items::<Vec<T>>::deserialize(deserializer)?.0)
            }
        };
        read().map_err(|error| {
            RuntimeError::user(format!(
                "cannot convert columns to a value of type {rust_type}: {error}"
            ))
        })
    }
}

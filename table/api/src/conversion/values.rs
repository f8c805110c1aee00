//! Values of a Rust type to columns and back.
//!
//! Flat records have a way of their own ([`flat_writer`](super::flat_writer)); everything else goes through
//! `serde_arrow`.

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
use super::flat_reader;
use super::flat_writer::{FlatWriter, is_flat};

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

/// Whether values of the record and columns of the types are both flat.
fn all_flat(record: &RecordType, types: &[DataType]) -> bool {
    record.fields.iter().all(|field| is_flat(&field.data_type)) && types.iter().all(is_flat)
}

/// Builds columns from values.
pub(crate) struct ColumnWriter<T> {
    writer: Writer,
    values: PhantomData<fn(T)>,
}

enum Writer {
    Flat(FlatWriter),
    Nested {
        builder: Box<ArrayBuilder>,
        is_record: bool,
    },
}

impl<T: Serialize> ColumnWriter<T> {
    /// A writer of the record's columns, with the physical types `types`: the record's own, or others that its
    /// values can be read as, such as a TIMESTAMP from text.
    ///
    /// # Errors
    /// An internal error for types that cannot be built.
    pub(crate) fn new(record: &RecordType, types: &[DataType]) -> Result<Self> {
        let writer = if all_flat(record, types) {
            let columns = record
                .fields
                .iter()
                .map(|field| field.name.as_str())
                .zip(types);
            Writer::Flat(FlatWriter::new(columns, record.is_record))
        } else {
            let builder = ArrayBuilder::from_arrow(&arrow_fields(record, types))
                .map_err(RuntimeError::internal)?;
            Writer::Nested {
                builder: Box::new(builder),
                is_record: record.is_record,
            }
        };
        Ok(ColumnWriter {
            writer,
            values: PhantomData,
        })
    }

    /// The columns of `values`.
    ///
    /// # Errors
    /// A value that its column cannot hold; the message names the field. Drop the writer then.
    pub(crate) fn write(&mut self, values: &[T]) -> Result<Vec<ArrayRef>> {
        match &mut self.writer {
            Writer::Flat(writer) => {
                writer.start(values.len());
                for value in values {
                    writer.push(value).map_err(cannot_write::<T>)?;
                }
                Ok(writer.finish())
            }
            Writer::Nested { builder, is_record } => {
                builder.reserve(values.len());
                for value in values {
                    let pushed = if *is_record {
                        builder.push(value)
                    } else {
                        builder.push(Item(value))
                    };
                    pushed.map_err(cannot_write::<T>)?;
                }
                builder.to_arrow().map_err(cannot_write::<T>)
            }
        }
    }
}

fn cannot_write<T>(error: impl std::fmt::Display) -> RuntimeError {
    let rust_type = std::any::type_name::<T>();
    RuntimeError::user(format!(
        "cannot convert a value of type {rust_type} to columns: {error}"
    ))
}

/// Reads values from columns.
pub(crate) struct ColumnReader<T> {
    record: RecordType,
    names: Vec<String>,
    fields: Vec<FieldRef>,
    is_flat: bool,
    values: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> ColumnReader<T> {
    /// A reader of columns of the physical types `types`, one per column of the record.
    pub(crate) fn new(record: &RecordType, types: &[DataType]) -> Self {
        ColumnReader {
            names: record
                .fields
                .iter()
                .map(|field| field.name.clone())
                .collect(),
            fields: arrow_fields(record, types),
            is_flat: all_flat(record, types),
            record: record.clone(),
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
        if self.is_flat {
            flat_reader::read(&self.names, columns, self.record.is_record).map_err(cannot_read::<T>)
        } else {
            self.read_nested(columns).map_err(cannot_read::<T>)
        }
    }

    fn read_nested(&self, columns: &[ArrayRef]) -> serde_arrow::Result<Vec<T>> {
        let deserializer = Deserializer::from_arrow(&self.fields, columns)?;
        if self.record.is_record {
            Vec::<T>::deserialize(deserializer)
        } else {
            Ok(Items::<Vec<T>>::deserialize(deserializer)?.0)
        }
    }
}

fn cannot_read<T>(error: impl std::fmt::Display) -> RuntimeError {
    let rust_type = std::any::type_name::<T>();
    RuntimeError::user(format!(
        "cannot convert columns to a value of type {rust_type}: {error}"
    ))
}

//! Flat records, read straight from Arrow columns by serde's calls.
//!
//! The counterpart of [`flat_writer`](super::flat_writer): columns are downcast once per batch, and a field reads its
//! value by row number.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::DataType as ArrowType;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::flat_writer::Failed;

enum Column<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Text(&'a StringArray),
}

impl<'a> Column<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            ArrowType::Boolean => Column::Boolean(array.as_boolean()),
            ArrowType::Int8 => Column::Int8(array.as_primitive()),
            ArrowType::Int16 => Column::Int16(array.as_primitive()),
            ArrowType::Int32 => Column::Int32(array.as_primitive()),
            ArrowType::Int64 => Column::Int64(array.as_primitive()),
            ArrowType::Float32 => Column::Float32(array.as_primitive()),
            ArrowType::Float64 => Column::Float64(array.as_primitive()),
            ArrowType::Utf8 => Column::Text(array.as_string()),
            _ => return None,
        })
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Boolean(a) => a.is_null(row),
            Column::Int8(a) => a.is_null(row),
            Column::Int16(a) => a.is_null(row),
            Column::Int32(a) => a.is_null(row),
            Column::Int64(a) => a.is_null(row),
            Column::Float32(a) => a.is_null(row),
            Column::Float64(a) => a.is_null(row),
            Column::Text(a) => a.is_null(row),
        }
    }
}

/// Reads `rows` records, or values of a single column, from flat columns of these names.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    names: &[String],
    columns: &[ArrayRef],
    is_record: bool,
) -> Result<Vec<T>, Failed> {
    let rows = columns.first().map_or(0, |column| column.len());
    let columns: Option<Vec<Column<'_>>> = columns.iter().map(Column::of).collect();
    let columns = columns.ok_or_else(|| Failed("a column is not flat".to_string()))?;
    let mut values = Vec::with_capacity(rows);
    for row in 0..rows {
        values.push(if is_record {
            T::deserialize(Record {
                names,
                columns: &columns,
                row,
                next: 0,
            })?
        } else {
            T::deserialize(Field {
                name: &names[0],
                column: &columns[0],
                row,
            })?
        });
    }
    Ok(values)
}

/// One field of a record, or a value by itself.
struct Field<'a> {
    name: &'a str,
    column: &'a Column<'a>,
    row: usize,
}

impl<'de> Deserializer<'de> for Field<'_> {
    type Error = Failed;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let row = self.row;
        if self.column.is_null(row) {
            return visitor.visit_none();
        }
        let read = match self.column {
            Column::Boolean(a) => visitor.visit_bool(a.value(row)),
            Column::Int8(a) => visitor.visit_i8(a.value(row)),
            Column::Int16(a) => visitor.visit_i16(a.value(row)),
            Column::Int32(a) => visitor.visit_i32(a.value(row)),
            Column::Int64(a) => visitor.visit_i64(a.value(row)),
            Column::Float32(a) => visitor.visit_f32(a.value(row)),
            Column::Float64(a) => visitor.visit_f64(a.value(row)),
            Column::Text(a) => visitor.visit_str(a.value(row)),
        };
        read.map_err(|Failed(reason)| Failed(format!("field '{}': {reason}", self.name)))
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        if self.column.is_null(self.row) {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// A whole record.
struct Record<'a> {
    names: &'a [String],
    columns: &'a [Column<'a>],
    row: usize,
    next: usize,
}

impl<'a> Record<'a> {
    #[inline]
    fn field(&self) -> Option<Field<'a>> {
        let column = self.columns.get(self.next)?;
        Some(Field {
            name: &self.names[self.next],
            column,
            row: self.row,
        })
    }
}

impl<'de> Deserializer<'de> for Record<'_> {
    type Error = Failed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        visitor.visit_map(self)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_map(self)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failed> {
        visitor.visit_seq(self)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_seq(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq map enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Record<'_> {
    type Error = Failed;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        match self.names.get(self.next) {
            Some(name) => seed.deserialize(StrDeserializer::new(name)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        let field = self
            .field()
            .ok_or_else(|| Failed("a value without a key".to_string()))?;
        self.next += 1;
        seed.deserialize(field)
    }
}

impl<'de> SeqAccess<'de> for Record<'_> {
    type Error = Failed;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        let Some(field) = self.field() else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(field).map(Some)
    }
}

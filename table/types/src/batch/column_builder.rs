//! An Arrow column of one type, built value by value.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, ListArray, MapArray, NullArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, FieldRef};

use crate::data_type::{DataType, LogicalType};
use crate::error::{Result, TypesError};
use crate::value::Value;

/// Builds an Arrow column from values.
///
/// Integers of any width are taken into any numeric column they fit, FLOAT into DOUBLE, and
/// decimals are brought to the column's scale; everything else must be of the column's kind.
#[derive(Debug)]
pub struct ColumnBuilder {
    data_type: DataType,
    column: Column,
}

#[derive(Debug)]
enum Column {
    Boolean(BooleanBuilder),
    TinyInt(PrimitiveBuilder<Int8Type>),
    SmallInt(PrimitiveBuilder<Int16Type>),
    Int(PrimitiveBuilder<Int32Type>),
    BigInt(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    Decimal(PrimitiveBuilder<Decimal128Type>),
    String(StringBuilder),
    Bytes(BinaryBuilder),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time32MillisecondType>),
    Micros(PrimitiveBuilder<TimestampMicrosecondType>),
    Nanos(PrimitiveBuilder<TimestampNanosecondType>),
    Months(PrimitiveBuilder<IntervalYearMonthType>),
    Millis(PrimitiveBuilder<DurationMillisecondType>),
    List {
        offsets: Vec<i32>,
        nulls: NullBufferBuilder,
        element: Box<ColumnBuilder>,
    },
    Map {
        offsets: Vec<i32>,
        nulls: NullBufferBuilder,
        key: Box<ColumnBuilder>,
        value: Box<ColumnBuilder>,
    },
    Struct {
        nulls: NullBufferBuilder,
        fields: Vec<ColumnBuilder>,
    },
    Null(usize),
}

impl ColumnBuilder {
    /// Starts an empty column with room for `capacity` rows.
    #[must_use]
    pub fn new(data_type: &DataType, capacity: usize) -> Self {
        let arrow = data_type.to_arrow();
        let column = match &data_type.logical {
            LogicalType::Boolean => Column::Boolean(BooleanBuilder::with_capacity(capacity)),
            LogicalType::TinyInt => Column::TinyInt(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::SmallInt => Column::SmallInt(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Int => Column::Int(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::BigInt => Column::BigInt(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Float => Column::Float(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Double => Column::Double(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Decimal { .. } => {
                Column::Decimal(PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow))
            }
            LogicalType::Char(_) | LogicalType::VarChar(_) => {
                Column::String(StringBuilder::with_capacity(capacity, capacity * 8))
            }
            LogicalType::Binary(_) | LogicalType::VarBinary(_) => {
                Column::Bytes(BinaryBuilder::with_capacity(capacity, capacity * 8))
            }
            LogicalType::Date => Column::Date(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Time(_) => Column::Time(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if *p <= 6 => {
                Column::Micros(PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow))
            }
            LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => {
                Column::Nanos(PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow))
            }
            LogicalType::IntervalYearMonth => {
                Column::Months(PrimitiveBuilder::with_capacity(capacity))
            }
            LogicalType::IntervalDayTime => {
                Column::Millis(PrimitiveBuilder::with_capacity(capacity))
            }
            LogicalType::Array(element) => Column::List {
                offsets: vec![0],
                nulls: NullBufferBuilder::new(capacity),
                element: Box::new(Self::new(element, capacity)),
            },
            LogicalType::Map(key, value) => Self::map(key, value, capacity),
            LogicalType::Multiset(element) => {
                Self::map(element, &DataType::new(LogicalType::Int), capacity)
            }
            LogicalType::Row(fields) => Column::Struct {
                nulls: NullBufferBuilder::new(capacity),
                fields: fields
                    .iter()
                    .map(|f| Self::new(&f.data_type, capacity))
                    .collect(),
            },
            LogicalType::Null => Column::Null(0),
        };
        Self {
            data_type: data_type.clone(),
            column,
        }
    }

    fn map(key: &DataType, value: &DataType, capacity: usize) -> Column {
        Column::Map {
            offsets: vec![0],
            nulls: NullBufferBuilder::new(capacity),
            key: Box::new(Self::new(&key.clone().not_null(), capacity)),
            value: Box::new(Self::new(value, capacity)),
        }
    }

    /// Returns the type of the column.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn mismatch(&self, value: &Value) -> TypesError {
        TypesError::ValueMismatch {
            value: value.to_string(),
            kind: value.kind(),
            data_type: self.data_type.to_string(),
        }
    }

    /// Appends a value.
    ///
    /// # Errors
    /// `types.value_mismatch` if the value is of another kind or too large for the column,
    /// `types.unexpected_null` for NULL in a column that forbids it. The column is unchanged
    /// unless the value is nested; a nested builder must not be used further after an error.
    pub fn push(&mut self, value: &Value) -> Result<()> {
        if value.is_null() {
            if !self.data_type.nullable && self.data_type.logical != LogicalType::Null {
                return Err(TypesError::UnexpectedNull {
                    data_type: self.data_type.to_string(),
                });
            }
            self.push_null();
            return Ok(());
        }
        if self.push_value(value)? {
            return Ok(());
        }
        Err(self.mismatch(value))
    }

    /// Appends NULL, even where the type forbids it.
    pub fn push_null(&mut self) {
        match &mut self.column {
            Column::Boolean(b) => b.append_null(),
            Column::TinyInt(b) => b.append_null(),
            Column::SmallInt(b) => b.append_null(),
            Column::Int(b) => b.append_null(),
            Column::BigInt(b) => b.append_null(),
            Column::Float(b) => b.append_null(),
            Column::Double(b) => b.append_null(),
            Column::Decimal(b) => b.append_null(),
            Column::String(b) => b.append_null(),
            Column::Bytes(b) => b.append_null(),
            Column::Date(b) => b.append_null(),
            Column::Time(b) => b.append_null(),
            Column::Micros(b) => b.append_null(),
            Column::Nanos(b) => b.append_null(),
            Column::Months(b) => b.append_null(),
            Column::Millis(b) => b.append_null(),
            Column::List { offsets, nulls, .. } | Column::Map { offsets, nulls, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
                nulls.append_null();
            }
            Column::Struct { nulls, fields } => {
                nulls.append_null();
                fields.iter_mut().for_each(Self::push_null);
            }
            Column::Null(n) => *n += 1,
        }
    }

    /// Appends a value that is not NULL; false if it does not belong here.
    fn push_value(&mut self, value: &Value) -> Result<bool> {
        macro_rules! integer {
            ($builder:expr) => {
                match value.as_i64().and_then(|v| v.try_into().ok()) {
                    Some(v) => $builder.append_value(v),
                    None => return Ok(false),
                }
            };
        }
        match (&mut self.column, value) {
            (Column::Boolean(b), Value::Boolean(v)) => b.append_value(*v),
            (Column::TinyInt(b), _) => integer!(b),
            (Column::SmallInt(b), _) => integer!(b),
            (Column::Int(b), _) => integer!(b),
            (Column::BigInt(b), _) => integer!(b),
            (Column::Float(b), Value::Float(v)) => b.append_value(*v),
            (Column::Double(b), Value::Double(v)) => b.append_value(*v),
            (Column::Double(b), Value::Float(v)) => b.append_value((*v).into()),
            (Column::Double(b), Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_)) => {
                b.append_value(value.as_i64().unwrap_or(0) as f64);
            }
            (Column::Decimal(b), _) => {
                let LogicalType::Decimal { precision, scale } = self.data_type.logical else {
                    return Ok(false);
                };
                let number = match value {
                    Value::Decimal(v) => Some(*v),
                    _ => value.as_i64().map(Into::into),
                };
                match number.and_then(|v| v.fit(precision, scale)) {
                    Some(v) => b.append_value(v.unscaled()),
                    None => return Ok(false),
                }
            }
            (Column::String(b), Value::String(v)) => b.append_value(v),
            (Column::Bytes(b), Value::Bytes(v)) => b.append_value(v),
            (Column::Date(b), Value::Date(v)) => b.append_value(*v),
            (Column::Time(b), Value::Time(v)) => b.append_value(*v),
            (Column::Micros(_) | Column::Nanos(_), _) => return self.push_timestamp(value),
            (Column::Months(b), Value::IntervalYearMonth(v)) => b.append_value(*v),
            (Column::Millis(b), Value::IntervalDayTime(v)) => b.append_value(*v),
            (
                Column::List {
                    offsets,
                    nulls,
                    element,
                },
                Value::Array(elements),
            ) => {
                for value in elements {
                    element.push(value)?;
                }
                push_offset(offsets, elements.len())?;
                nulls.append_non_null();
            }
            (
                Column::Map {
                    offsets,
                    nulls,
                    key,
                    value,
                },
                Value::Map(entries),
            ) => {
                for (k, v) in entries {
                    key.push(k)?;
                    value.push(v)?;
                }
                push_offset(offsets, entries.len())?;
                nulls.append_non_null();
            }
            (Column::Struct { nulls, fields }, Value::Row(row)) => {
                if row.arity() != fields.len() {
                    return Err(TypesError::ColumnCount {
                        expected: fields.len(),
                        found: row.arity(),
                    });
                }
                for (field, value) in fields.iter_mut().zip(row.fields()) {
                    field.push(value)?;
                }
                nulls.append_non_null();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn push_timestamp(&mut self, value: &Value) -> Result<bool> {
        let timestamp = match (&self.data_type.logical, value) {
            (LogicalType::Timestamp(p), Value::Timestamp(v))
            | (LogicalType::TimestampLtz(p), Value::TimestampLtz(v)) => v.truncate(*p),
            _ => return Ok(false),
        };
        match &mut self.column {
            Column::Micros(b) => b.append_value(timestamp.to_micros()),
            Column::Nanos(b) => b.append_value(timestamp.to_nanos()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the column and starts a new one.
    #[must_use]
    pub fn finish(&mut self) -> ArrayRef {
        let arrow = self.data_type.to_arrow();
        match &mut self.column {
            Column::Boolean(b) => Arc::new(b.finish()),
            Column::TinyInt(b) => Arc::new(b.finish()),
            Column::SmallInt(b) => Arc::new(b.finish()),
            Column::Int(b) => Arc::new(b.finish()),
            Column::BigInt(b) => Arc::new(b.finish()),
            Column::Float(b) => Arc::new(b.finish()),
            Column::Double(b) => Arc::new(b.finish()),
            Column::Decimal(b) => Arc::new(b.finish()),
            Column::String(b) => Arc::new(b.finish()),
            Column::Bytes(b) => Arc::new(b.finish()),
            Column::Date(b) => Arc::new(b.finish()),
            Column::Time(b) => Arc::new(b.finish()),
            Column::Micros(b) => Arc::new(b.finish()),
            Column::Nanos(b) => Arc::new(b.finish()),
            Column::Months(b) => Arc::new(b.finish()),
            Column::Millis(b) => Arc::new(b.finish()),
            Column::List {
                offsets,
                nulls,
                element,
            } => {
                let ArrowType::List(field) = arrow else {
                    unreachable!("ARRAY is a list")
                };
                let offsets = finish_offsets(offsets);
                Arc::new(ListArray::new(
                    field,
                    offsets,
                    element.finish(),
                    nulls.finish(),
                ))
            }
            Column::Map {
                offsets,
                nulls,
                key,
                value,
            } => {
                let ArrowType::Map(entries, ordered) = arrow else {
                    unreachable!("MAP is a map")
                };
                let pairs = StructArray::new(
                    struct_fields(&entries),
                    vec![key.finish(), value.finish()],
                    None,
                );
                let offsets = finish_offsets(offsets);
                Arc::new(MapArray::new(
                    entries,
                    offsets,
                    pairs,
                    nulls.finish(),
                    ordered,
                ))
            }
            Column::Struct { nulls, fields } => {
                let ArrowType::Struct(names) = arrow else {
                    unreachable!("ROW is a struct")
                };
                let rows = nulls.len();
                let columns = fields.iter_mut().map(Self::finish).collect();
                let nulls = nulls.finish();
                let array = StructArray::try_new_with_length(names, columns, nulls, rows)
                    .expect("all fields got one value per row");
                Arc::new(array)
            }
            Column::Null(n) => Arc::new(NullArray::new(std::mem::take(n))),
        }
    }
}

fn struct_fields(entries: &FieldRef) -> arrow_schema::Fields {
    match entries.data_type() {
        ArrowType::Struct(fields) => fields.clone(),
        _ => unreachable!("map entries are a struct"),
    }
}

fn push_offset(offsets: &mut Vec<i32>, added: usize) -> Result<()> {
    let last = offsets.last().copied().unwrap_or(0);
    let next = i32::try_from(added)
        .ok()
        .and_then(|n| last.checked_add(n))
        .ok_or_else(|| TypesError::OutOfRange {
            value: added.to_string(),
            type_name: "the number of elements of a batch".to_owned(),
        })?;
    offsets.push(next);
    Ok(())
}

fn finish_offsets(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, vec![0])))
}

/// Returns a column of one row that holds the value.
///
/// # Errors
/// As [`ColumnBuilder::push`].
pub fn scalar_array(value: &Value, data_type: &DataType) -> Result<ArrayRef> {
    let mut builder = ColumnBuilder::new(data_type, 1);
    if value.is_null() {
        builder.push_null();
    } else {
        builder.push(value)?;
    }
    Ok(builder.finish())
}

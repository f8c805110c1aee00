//! An Arrow column of one type, built value by value.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder as _, BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder,
};
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
    column: ColumnParts,
}

/// What a [`ColumnBuilder`] consists of, for decoders that append without making a [`Value`].
///
/// A nested column has as many elements, pairs or fields as its offsets and nulls say: who appends
/// to them appends to all.
#[derive(Debug)]
pub enum ColumnParts {
    /// BOOLEAN.
    Boolean(BooleanBuilder),
    /// TINYINT.
    TinyInt(PrimitiveBuilder<Int8Type>),
    /// SMALLINT.
    SmallInt(PrimitiveBuilder<Int16Type>),
    /// INT.
    Int(PrimitiveBuilder<Int32Type>),
    /// BIGINT.
    BigInt(PrimitiveBuilder<Int64Type>),
    /// FLOAT.
    Float(PrimitiveBuilder<Float32Type>),
    /// DOUBLE.
    Double(PrimitiveBuilder<Float64Type>),
    /// DECIMAL: unscaled numbers.
    Decimal(PrimitiveBuilder<Decimal128Type>),
    /// CHAR and VARCHAR.
    String(StringBuilder),
    /// BINARY and VARBINARY.
    Bytes(BinaryBuilder),
    /// DATE: days since 1970-01-01.
    Date(PrimitiveBuilder<Date32Type>),
    /// TIME: milliseconds of the day.
    Time(PrimitiveBuilder<Time32MillisecondType>),
    /// Timestamps with a precision up to 6.
    Micros(PrimitiveBuilder<TimestampMicrosecondType>),
    /// Timestamps with a precision above 6.
    Nanos(PrimitiveBuilder<TimestampNanosecondType>),
    /// INTERVAL YEAR TO MONTH.
    Months(PrimitiveBuilder<IntervalYearMonthType>),
    /// INTERVAL DAY TO SECOND.
    Millis(PrimitiveBuilder<DurationMillisecondType>),
    /// ARRAY.
    List {
        /// Where each list ends, after a 0.
        offsets: Vec<i32>,
        /// Which lists are NULL.
        nulls: NullBufferBuilder,
        /// The elements of all lists.
        element: Box<ColumnBuilder>,
    },
    /// MAP and MULTISET.
    Map {
        /// Where each map ends, after a 0.
        offsets: Vec<i32>,
        /// Which maps are NULL.
        nulls: NullBufferBuilder,
        /// The keys of all maps.
        key: Box<ColumnBuilder>,
        /// The values of all maps.
        value: Box<ColumnBuilder>,
    },
    /// ROW.
    Struct {
        /// Which rows are NULL.
        nulls: NullBufferBuilder,
        /// The fields, as long as `nulls`.
        fields: Vec<ColumnBuilder>,
    },
    /// The type of a bare NULL: the number of rows.
    Null(usize),
}

impl ColumnBuilder {
    /// Starts an empty column with room for `capacity` rows.
    #[must_use]
    pub fn new(data_type: &DataType, capacity: usize) -> Self {
        let arrow = data_type.to_arrow();
        let column = match &data_type.logical {
            LogicalType::Boolean => ColumnParts::Boolean(BooleanBuilder::with_capacity(capacity)),
            LogicalType::TinyInt => ColumnParts::TinyInt(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::SmallInt => {
                ColumnParts::SmallInt(PrimitiveBuilder::with_capacity(capacity))
            }
            LogicalType::Int => ColumnParts::Int(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::BigInt => ColumnParts::BigInt(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Float => ColumnParts::Float(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Double => ColumnParts::Double(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Decimal { .. } => ColumnParts::Decimal(
                PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow),
            ),
            LogicalType::Char(_) | LogicalType::VarChar(_) => {
                ColumnParts::String(StringBuilder::with_capacity(capacity, capacity * 8))
            }
            LogicalType::Binary(_) | LogicalType::VarBinary(_) => {
                ColumnParts::Bytes(BinaryBuilder::with_capacity(capacity, capacity * 8))
            }
            LogicalType::Date => ColumnParts::Date(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Time(_) => ColumnParts::Time(PrimitiveBuilder::with_capacity(capacity)),
            LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if *p <= 6 => {
                ColumnParts::Micros(PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow))
            }
            LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => {
                ColumnParts::Nanos(PrimitiveBuilder::with_capacity(capacity).with_data_type(arrow))
            }
            LogicalType::IntervalYearMonth => {
                ColumnParts::Months(PrimitiveBuilder::with_capacity(capacity))
            }
            LogicalType::IntervalDayTime => {
                ColumnParts::Millis(PrimitiveBuilder::with_capacity(capacity))
            }
            LogicalType::Array(element) => ColumnParts::List {
                offsets: vec![0],
                nulls: NullBufferBuilder::new(capacity),
                element: Box::new(Self::new(element, capacity)),
            },
            LogicalType::Map(key, value) => Self::map(key, value, capacity),
            LogicalType::Multiset(element) => {
                Self::map(element, &DataType::new(LogicalType::Int), capacity)
            }
            LogicalType::Row(fields) => ColumnParts::Struct {
                nulls: NullBufferBuilder::new(capacity),
                fields: fields
                    .iter()
                    .map(|f| Self::new(&f.data_type, capacity))
                    .collect(),
            },
            LogicalType::Null => ColumnParts::Null(0),
        };
        Self {
            data_type: data_type.clone(),
            column,
        }
    }

    fn map(key: &DataType, value: &DataType, capacity: usize) -> ColumnParts {
        ColumnParts::Map {
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

    /// Returns the type and what the column consists of, to append to it directly.
    pub fn parts_mut(&mut self) -> (&DataType, &mut ColumnParts) {
        (&self.data_type, &mut self.column)
    }

    /// Returns the number of values so far.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.column {
            ColumnParts::Boolean(b) => b.len(),
            ColumnParts::TinyInt(b) => b.len(),
            ColumnParts::SmallInt(b) => b.len(),
            ColumnParts::Int(b) => b.len(),
            ColumnParts::BigInt(b) => b.len(),
            ColumnParts::Float(b) => b.len(),
            ColumnParts::Double(b) => b.len(),
            ColumnParts::Decimal(b) => b.len(),
            ColumnParts::String(b) => b.len(),
            ColumnParts::Bytes(b) => b.len(),
            ColumnParts::Date(b) => b.len(),
            ColumnParts::Time(b) => b.len(),
            ColumnParts::Micros(b) => b.len(),
            ColumnParts::Nanos(b) => b.len(),
            ColumnParts::Months(b) => b.len(),
            ColumnParts::Millis(b) => b.len(),
            ColumnParts::List { nulls, .. }
            | ColumnParts::Map { nulls, .. }
            | ColumnParts::Struct { nulls, .. } => nulls.len(),
            ColumnParts::Null(n) => *n,
        }
    }

    /// Returns whether there are no values so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
            ColumnParts::Boolean(b) => b.append_null(),
            ColumnParts::TinyInt(b) => b.append_null(),
            ColumnParts::SmallInt(b) => b.append_null(),
            ColumnParts::Int(b) => b.append_null(),
            ColumnParts::BigInt(b) => b.append_null(),
            ColumnParts::Float(b) => b.append_null(),
            ColumnParts::Double(b) => b.append_null(),
            ColumnParts::Decimal(b) => b.append_null(),
            ColumnParts::String(b) => b.append_null(),
            ColumnParts::Bytes(b) => b.append_null(),
            ColumnParts::Date(b) => b.append_null(),
            ColumnParts::Time(b) => b.append_null(),
            ColumnParts::Micros(b) => b.append_null(),
            ColumnParts::Nanos(b) => b.append_null(),
            ColumnParts::Months(b) => b.append_null(),
            ColumnParts::Millis(b) => b.append_null(),
            ColumnParts::List { offsets, nulls, .. } | ColumnParts::Map { offsets, nulls, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
                nulls.append_null();
            }
            ColumnParts::Struct { nulls, fields } => {
                nulls.append_null();
                fields.iter_mut().for_each(Self::push_null);
            }
            ColumnParts::Null(n) => *n += 1,
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
            (ColumnParts::Boolean(b), Value::Boolean(v)) => b.append_value(*v),
            (ColumnParts::TinyInt(b), _) => integer!(b),
            (ColumnParts::SmallInt(b), _) => integer!(b),
            (ColumnParts::Int(b), _) => integer!(b),
            (ColumnParts::BigInt(b), _) => integer!(b),
            (ColumnParts::Float(b), Value::Float(v)) => b.append_value(*v),
            (ColumnParts::Double(b), Value::Double(v)) => b.append_value(*v),
            (ColumnParts::Double(b), Value::Float(v)) => b.append_value((*v).into()),
            (ColumnParts::Double(b), Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_)) => {
                b.append_value(value.as_i64().unwrap_or(0) as f64);
            }
            (ColumnParts::Decimal(b), _) => {
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
            (ColumnParts::String(b), Value::String(v)) => b.append_value(v),
            (ColumnParts::Bytes(b), Value::Bytes(v)) => b.append_value(v),
            (ColumnParts::Date(b), Value::Date(v)) => b.append_value(*v),
            (ColumnParts::Time(b), Value::Time(v)) => b.append_value(*v),
            (ColumnParts::Micros(_) | ColumnParts::Nanos(_), _) => {
                return self.push_timestamp(value);
            }
            (ColumnParts::Months(b), Value::IntervalYearMonth(v)) => b.append_value(*v),
            (ColumnParts::Millis(b), Value::IntervalDayTime(v)) => b.append_value(*v),
            (
                ColumnParts::List {
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
                ColumnParts::Map {
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
            (ColumnParts::Struct { nulls, fields }, Value::Row(row)) => {
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
            ColumnParts::Micros(b) => b.append_value(timestamp.to_micros()),
            ColumnParts::Nanos(b) => b.append_value(timestamp.to_nanos()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the column and starts a new one.
    #[must_use]
    pub fn finish(&mut self) -> ArrayRef {
        let arrow = self.data_type.to_arrow();
        match &mut self.column {
            ColumnParts::Boolean(b) => Arc::new(b.finish()),
            ColumnParts::TinyInt(b) => Arc::new(b.finish()),
            ColumnParts::SmallInt(b) => Arc::new(b.finish()),
            ColumnParts::Int(b) => Arc::new(b.finish()),
            ColumnParts::BigInt(b) => Arc::new(b.finish()),
            ColumnParts::Float(b) => Arc::new(b.finish()),
            ColumnParts::Double(b) => Arc::new(b.finish()),
            ColumnParts::Decimal(b) => Arc::new(b.finish()),
            ColumnParts::String(b) => Arc::new(b.finish()),
            ColumnParts::Bytes(b) => Arc::new(b.finish()),
            ColumnParts::Date(b) => Arc::new(b.finish()),
            ColumnParts::Time(b) => Arc::new(b.finish()),
            ColumnParts::Micros(b) => Arc::new(b.finish()),
            ColumnParts::Nanos(b) => Arc::new(b.finish()),
            ColumnParts::Months(b) => Arc::new(b.finish()),
            ColumnParts::Millis(b) => Arc::new(b.finish()),
            ColumnParts::List {
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
            ColumnParts::Map {
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
            ColumnParts::Struct { nulls, fields } => {
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
            ColumnParts::Null(n) => Arc::new(NullArray::new(std::mem::take(n))),
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

//! Values from row numbers.

use std::collections::BTreeMap;

use aquifer_types::temporal::MILLIS_PER_DAY;
use aquifer_types::{ColumnBuilder, DataType, Decimal, LogicalType, Row, Timestamp, Value};
use arrow_array::ArrayRef;

use super::field::FieldGenerator;
use super::random::Random;

/// What makes the values of a field.
#[derive(Clone, Debug)]
pub(super) enum Generator {
    /// `start`, `start + 1`, ... up to `end`; a decimal number counts `unit` per step.
    Sequence {
        start: i128,
        end: i128,
        unit: i128,
    },
    Boolean,
    /// Whole numbers, and the unscaled numbers of decimals.
    Whole {
        min: i128,
        max: i128,
    },
    Double {
        min: f64,
        max: f64,
    },
    Text {
        length: u32,
        varies: bool,
    },
    Bytes {
        length: u32,
        varies: bool,
    },
    Date,
    Time,
    Timestamp {
        max_past_ms: i64,
    },
    Array {
        length: u32,
        element: Box<FieldGenerator>,
    },
    Multiset {
        length: u32,
        element: Box<FieldGenerator>,
    },
    Map {
        length: u32,
        key: Box<FieldGenerator>,
        value: Box<FieldGenerator>,
    },
    Row(Vec<FieldGenerator>),
}

impl FieldGenerator {
    /// The values of the rows with these numbers; `now` is the time in milliseconds since 1970.
    pub(super) fn column(&self, rows: &[u64], now: i64) -> aquifer_types::Result<ArrayRef> {
        let mut column = ColumnBuilder::new(&self.data_type, rows.len());
        for row in rows {
            let mut random = Random::of(self.seed, *row);
            column.push(&self.value(&mut random, *row, now))?;
        }
        Ok(column.finish())
    }

    fn value(&self, random: &mut Random, row: u64, now: i64) -> Value {
        if self.null_rate > 0.0 && random.unit() < self.null_rate {
            return Value::Null;
        }
        let size = |random: &mut Random, length: u32, varies: bool| {
            if varies && length > 0 {
                random.between(1, length.into()) as usize
            } else {
                length as usize
            }
        };
        match &self.generator {
            Generator::Sequence { start, unit, .. } => {
                whole(&self.data_type, (start + i128::from(row)) * unit)
            }
            Generator::Boolean => Value::Boolean(random.next_u64() & 1 == 1),
            Generator::Whole { min, max } => whole(&self.data_type, random.between(*min, *max)),
            Generator::Double { min, max } => {
                let part = random.unit();
                let number = (min * (1.0 - part) + max * part).clamp(*min, *max);
                match self.data_type.logical {
                    LogicalType::Float => Value::Float(number as f32),
                    _ => Value::Double(number),
                }
            }
            Generator::Text { length, varies } => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let size = size(random, *length, *varies);
                let mut text = String::with_capacity(size);
                while text.len() < size {
                    let mut digits = random.next_u64();
                    for _ in 0..16.min(size - text.len()) {
                        text.push(char::from(DIGITS[(digits & 15) as usize]));
                        digits >>= 4;
                    }
                }
                Value::String(text)
            }
            Generator::Bytes { length, varies } => {
                let size = size(random, *length, *varies);
                let mut bytes = Vec::with_capacity(size + 8);
                while bytes.len() < size {
                    bytes.extend_from_slice(&random.next_u64().to_le_bytes());
                }
                bytes.truncate(size);
                Value::Bytes(bytes)
            }
            Generator::Date => {
                let days = now.div_euclid(MILLIS_PER_DAY);
                Value::Date(i32::try_from(days).unwrap_or(i32::MAX))
            }
            Generator::Time => {
                let millis = now.rem_euclid(MILLIS_PER_DAY);
                Value::Time(i32::try_from(millis).unwrap_or(0))
            }
            Generator::Timestamp { max_past_ms } => {
                let past = random.between(0, (*max_past_ms).into());
                let at = now.saturating_sub(i64::try_from(past).unwrap_or(i64::MAX));
                match self.data_type.logical {
                    LogicalType::Timestamp(_) => Value::Timestamp(Timestamp::from_millis(at)),
                    _ => Value::TimestampLtz(Timestamp::from_millis(at)),
                }
            }
            Generator::Array { length, element } => {
                let elements = (0..*length).map(|_| element.value(random, row, now));
                Value::Array(elements.collect())
            }
            Generator::Multiset { length, element } => {
                let mut counts: BTreeMap<Value, i32> = BTreeMap::new();
                for _ in 0..*length {
                    *counts.entry(element.value(random, row, now)).or_default() += 1;
                }
                let counts = counts.into_iter();
                Value::Map(
                    counts
                        .map(|(value, count)| (value, Value::Int(count)))
                        .collect(),
                )
            }
            Generator::Map { length, key, value } => {
                let mut entries = BTreeMap::new();
                for _ in 0..*length {
                    let key = key.value(random, row, now);
                    entries.insert(key, value.value(random, row, now));
                }
                Value::Map(entries.into_iter().collect())
            }
            Generator::Row(fields) => {
                let fields = fields.iter().map(|field| field.value(random, row, now));
                Value::Row(Box::new(Row::of(fields.collect())))
            }
        }
    }
}

/// A whole number as a value of the type.
fn whole(data_type: &DataType, number: i128) -> Value {
    let as_i64 = || i64::try_from(number).unwrap_or_default();
    let as_i32 = || i32::try_from(number).unwrap_or_default();
    match &data_type.logical {
        LogicalType::Decimal { scale, .. } => Value::Decimal(Decimal::new(number, *scale)),
        LogicalType::Float => Value::Float(number as f32),
        LogicalType::Double => Value::Double(number as f64),
        LogicalType::IntervalYearMonth => Value::IntervalYearMonth(as_i32()),
        LogicalType::IntervalDayTime => Value::IntervalDayTime(as_i64()),
        logical if logical.is_string() => Value::String(number.to_string()),
        // A column takes any integer that fits, and the limits were checked.
        _ => Value::BigInt(as_i64()),
    }
}

//! Values from row numbers.

use std::collections::BTreeMap;
use std::fmt;

use aquifer_types::temporal::MILLIS_PER_DAY;
use aquifer_types::{
    ColumnBuilder, ColumnParts, DataType, Decimal, LogicalType, Row, Timestamp, Value,
};
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
            self.append(&mut column, &mut random, *row, now)?;
        }
        Ok(column.finish())
    }

    /// Appends the value of a row; the most common types without making a [`Value`].
    fn append(
        &self,
        column: &mut ColumnBuilder,
        random: &mut Random,
        row: u64,
        now: i64,
    ) -> aquifer_types::Result<()> {
        if self.is_null(random) {
            column.push_null();
            return Ok(());
        }
        match (&self.generator, column.parts_mut().1) {
            (
                Generator::Sequence { .. } | Generator::Whole { .. },
                ColumnParts::BigInt(builder),
            ) => {
                builder.append_value(self.whole_number(random, row) as i64);
            }
            (Generator::Sequence { .. } | Generator::Whole { .. }, ColumnParts::Int(builder)) => {
                builder.append_value(self.whole_number(random, row) as i32);
            }
            (Generator::Double { min, max }, ColumnParts::Double(builder)) => {
                builder.append_value(double(random, *min, *max));
            }
            (Generator::Text { length, varies }, ColumnParts::String(builder)) => {
                let _ = write_text(random, *length, *varies, builder);
                builder.append_value("");
            }
            _ => {
                let value = self.value_not_null(random, row, now);
                column.push(&value)?;
            }
        }
        Ok(())
    }

    fn is_null(&self, random: &mut Random) -> bool {
        self.null_rate > 0.0 && random.unit() < self.null_rate
    }

    /// The number of a sequence or of random whole numbers, unscaled for decimals.
    fn whole_number(&self, random: &mut Random, row: u64) -> i128 {
        match &self.generator {
            Generator::Sequence { start, unit, .. } => (start + i128::from(row)) * unit,
            Generator::Whole { min, max } => random.between(*min, *max),
            _ => 0,
        }
    }

    fn value(&self, random: &mut Random, row: u64, now: i64) -> Value {
        if self.is_null(random) {
            return Value::Null;
        }
        self.value_not_null(random, row, now)
    }

    fn value_not_null(&self, random: &mut Random, row: u64, now: i64) -> Value {
        match &self.generator {
            Generator::Sequence { .. } | Generator::Whole { .. } => {
                whole(&self.data_type, self.whole_number(random, row))
            }
            Generator::Boolean => Value::Boolean(random.next_u64() & 1 == 1),
            Generator::Double { min, max } => {
                let number = double(random, *min, *max);
                match self.data_type.logical {
                    LogicalType::Float => Value::Float(number as f32),
                    _ => Value::Double(number),
                }
            }
            Generator::Text { length, varies } => {
                let mut text = String::new();
                let _ = write_text(random, *length, *varies, &mut text);
                Value::String(text)
            }
            Generator::Bytes { length, varies } => {
                let size = size(random, *length, *varies) as usize;
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

fn double(random: &mut Random, min: f64, max: f64) -> f64 {
    let part = random.unit();
    (min * (1.0 - part) + max * part).clamp(min, max)
}

/// The size of a text or of bytes.
fn size(random: &mut Random, length: u32, varies: bool) -> u32 {
    if varies && length > 0 {
        random.between(1, length.into()) as u32
    } else {
        length
    }
}

/// Writes hexadecimal digits.
fn write_text(
    random: &mut Random,
    length: u32,
    varies: bool,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut left = size(random, length, varies);
    while left > 0 {
        let mut digits = random.next_u64();
        for _ in 0..left.min(16) {
            out.write_char(char::from(DIGITS[(digits & 15) as usize]))?;
            digits >>= 4;
        }
        left -= left.min(16);
    }
    Ok(())
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

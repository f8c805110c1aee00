//! Total order, equality and hash of values.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use super::Value;

/// Rank of the kinds among each other; values of different kinds never mix in one column.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Boolean(_) => 1,
        Value::TinyInt(_) => 2,
        Value::SmallInt(_) => 3,
        Value::Int(_) => 4,
        Value::BigInt(_) => 5,
        Value::Float(_) => 6,
        Value::Double(_) => 7,
        Value::Decimal(_) => 8,
        Value::String(_) => 9,
        Value::Bytes(_) => 10,
        Value::Date(_) => 11,
        Value::Time(_) => 12,
        Value::Timestamp(_) => 13,
        Value::TimestampLtz(_) => 14,
        Value::IntervalYearMonth(_) => 15,
        Value::IntervalDayTime(_) => 16,
        Value::Array(_) => 17,
        Value::Map(_) => 18,
        Value::Row(_) => 19,
    }
}

fn compare_f64(a: f64, b: f64) -> Ordering {
    // All NaNs are one value, as for Java's Double.compare.
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::TinyInt(a), Self::TinyInt(b)) => a.cmp(b),
            (Self::SmallInt(a), Self::SmallInt(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b))
            | (Self::Date(a), Self::Date(b))
            | (Self::Time(a), Self::Time(b))
            | (Self::IntervalYearMonth(a), Self::IntervalYearMonth(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b))
            | (Self::IntervalDayTime(a), Self::IntervalDayTime(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => compare_f64((*a).into(), (*b).into()),
            (Self::Double(a), Self::Double(b)) => compare_f64(*a, *b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b))
            | (Self::TimestampLtz(a), Self::TimestampLtz(b)) => a.cmp(b),
            (Self::Array(a), Self::Array(b)) => a.cmp(b),
            (Self::Map(a), Self::Map(b)) => a.cmp(b),
            (Self::Row(a), Self::Row(b)) => a.fields().cmp(b.fields()),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Boolean(v) => v.hash(state),
            Self::TinyInt(v) => v.hash(state),
            Self::SmallInt(v) => v.hash(state),
            Self::Int(v) | Self::Date(v) | Self::Time(v) | Self::IntervalYearMonth(v) => {
                v.hash(state);
            }
            Self::BigInt(v) | Self::IntervalDayTime(v) => v.hash(state),
            Self::Float(v) => (if v.is_nan() { f32::NAN } else { *v })
                .to_bits()
                .hash(state),
            Self::Double(v) => (if v.is_nan() { f64::NAN } else { *v })
                .to_bits()
                .hash(state),
            Self::Decimal(v) => v.hash(state),
            Self::String(v) => v.hash(state),
            Self::Bytes(v) => v.hash(state),
            Self::Timestamp(v) | Self::TimestampLtz(v) => v.hash(state),
            Self::Array(v) => v.hash(state),
            Self::Map(v) => v.hash(state),
            Self::Row(v) => v.fields().hash(state),
        }
    }
}

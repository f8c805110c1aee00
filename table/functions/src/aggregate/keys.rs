//! Values of any fixed-width type as integers of the same order, and back.

use std::sync::Arc;

use aquifer_types::{DataType, LogicalType};
use arrow_array::builder::BooleanBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};

/// A native value as an integer of the same order.
trait OrderKey: Copy {
    fn to_key(self) -> i128;
    fn from_key(key: i128) -> Self;
}

macro_rules! integer_keys {
    ($($native:ty),+) => {$(
        impl OrderKey for $native {
            fn to_key(self) -> i128 {
                self as i128
            }

            fn from_key(key: i128) -> Self {
                key as $native
            }
        }
    )+};
}

integer_keys!(i8, i16, i32, i64, i128);

macro_rules! float_keys {
    ($($native:ty: $bits:ty, $mask:expr);+) => {$(
        impl OrderKey for $native {
            fn to_key(self) -> i128 {
                // The bits of negative numbers count downwards; all NaNs are one, the greatest.
                let value = if self.is_nan() { <$native>::NAN } else { self };
                let bits = value.to_bits() as $bits;
                i128::from(if bits < 0 { bits ^ $mask } else { bits })
            }

            fn from_key(key: i128) -> Self {
                let bits = key as $bits;
                Self::from_bits((if bits < 0 { bits ^ $mask } else { bits }).cast_unsigned())
            }
        }
    )+};
}

float_keys!(f32: i32, i32::MAX; f64: i64, i64::MAX);

/// Calls a macro with the Arrow type of a fixed-width logical type.
macro_rules! with_primitive {
    ($logical:expr, $macro:ident, $otherwise:expr) => {
        match $logical {
            LogicalType::TinyInt => $macro!(Int8Type),
            LogicalType::SmallInt => $macro!(Int16Type),
            LogicalType::Int => $macro!(Int32Type),
            LogicalType::BigInt => $macro!(Int64Type),
            LogicalType::Float => $macro!(Float32Type),
            LogicalType::Double => $macro!(Float64Type),
            LogicalType::Decimal { .. } => $macro!(Decimal128Type),
            LogicalType::Date => $macro!(Date32Type),
            LogicalType::Time(_) => $macro!(Time32MillisecondType),
            LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if *p <= 6 => {
                $macro!(TimestampMicrosecondType)
            }
            LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => {
                $macro!(TimestampNanosecondType)
            }
            LogicalType::IntervalYearMonth => $macro!(IntervalYearMonthType),
            LogicalType::IntervalDayTime => $macro!(DurationMillisecondType),
            _ => $otherwise,
        }
    };
}
pub(super) use with_primitive;

/// Returns the keys of a fixed-width column; nothing for other types. NULLs give any key.
pub(super) fn to_keys(array: &ArrayRef, logical: &LogicalType) -> Option<Vec<i128>> {
    if *logical == LogicalType::Boolean {
        return Some(array.as_boolean().values().iter().map(i128::from).collect());
    }
    macro_rules! keys {
        ($arrow:ty) => {
            Some(
                array
                    .as_primitive::<$arrow>()
                    .values()
                    .iter()
                    .map(|v| v.to_key())
                    .collect(),
            )
        };
    }
    with_primitive!(logical, keys, None)
}

/// Returns the column of keys that [`to_keys`] made.
pub(super) fn from_keys(
    keys: impl Iterator<Item = Option<i128>>,
    data_type: &DataType,
) -> Option<ArrayRef> {
    if data_type.logical == LogicalType::Boolean {
        let mut builder = BooleanBuilder::new();
        keys.for_each(|k| builder.append_option(k.map(|k| k != 0)));
        return Some(Arc::new(builder.finish()));
    }
    macro_rules! column {
        ($arrow:ty) => {{
            let array: PrimitiveArray<$arrow> = keys.map(|k| k.map(OrderKey::from_key)).collect();
            Some(Arc::new(array.with_data_type(data_type.to_arrow())) as ArrayRef)
        }};
    }
    with_primitive!(&data_type.logical, column, None)
}

/// Returns whether a type has keys.
pub(super) fn has_keys(logical: &LogicalType) -> bool {
    macro_rules! yes {
        ($arrow:ty) => {
            true
        };
    }
    *logical == LogicalType::Boolean || with_primitive!(logical, yes, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order() {
        let values = [
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            0.0,
            1e-300,
            2.5,
            f64::INFINITY,
            f64::NAN,
        ];
        let keys: Vec<i128> = values.iter().map(|v| v.to_key()).collect();
        assert!(keys.is_sorted());
        for (value, key) in values.iter().zip(keys) {
            assert_eq!(f64::from_key(key).to_bits(), value.to_bits());
        }
    }
}

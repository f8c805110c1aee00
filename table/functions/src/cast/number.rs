//! Casts among numbers, and between numbers and booleans.

use std::sync::Arc;

use aquifer_types::decimal::pow10;
use aquifer_types::{DataType, Decimal, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType as ArrowType;

use super::CastFn;

/// Converts between native numbers as Java does: floats go through `int` to the small integers.
trait Convert<T> {
    fn convert(self) -> T;
}

macro_rules! convert {
    ($($from:ty => $($to:ty),+;)+) => {$($(
        impl Convert<$to> for $from {
            #[inline]
            fn convert(self) -> $to {
                self as $to
            }
        }
    )+)+};
}

convert! {
    i8 => i8, i16, i32, i64, f32, f64;
    i16 => i8, i16, i32, i64, f32, f64;
    i32 => i8, i16, i32, i64, f32, f64;
    i64 => i8, i16, i32, i64, f32, f64;
    f32 => i32, i64, f32, f64;
    f64 => i32, i64, f32, f64;
}

macro_rules! convert_by_int {
    ($($from:ty => $($to:ty),+;)+) => {$($(
        impl Convert<$to> for $from {
            #[inline]
            fn convert(self) -> $to {
                self as i32 as $to
            }
        }
    )+)+};
}

convert_by_int! {
    f32 => i8, i16;
    f64 => i8, i16;
}

/// Calls a macro with the Arrow type of a primitive number type.
macro_rules! with_number {
    ($logical:expr, $macro:ident $(, $extra:tt)*) => {
        match $logical {
            LogicalType::TinyInt => $macro!(Int8Type $(, $extra)*),
            LogicalType::SmallInt => $macro!(Int16Type $(, $extra)*),
            LogicalType::Int => $macro!(Int32Type $(, $extra)*),
            LogicalType::BigInt => $macro!(Int64Type $(, $extra)*),
            LogicalType::Float => $macro!(Float32Type $(, $extra)*),
            LogicalType::Double => $macro!(Float64Type $(, $extra)*),
            _ => None,
        }
    };
}

pub(super) fn compile(from: &DataType, to: &DataType) -> Option<CastFn> {
    match (&from.logical, &to.logical) {
        (
            LogicalType::Decimal {
                precision: p,
                scale: s,
            },
            LogicalType::Decimal { precision, scale },
        ) => Some(rescale((*p, *s), (*precision, *scale), to.to_arrow())),
        (LogicalType::Decimal { scale, .. }, target) => from_decimal(*scale, target),
        (source, LogicalType::Decimal { precision, scale }) => {
            to_decimal(source, *precision, *scale, to.to_arrow())
        }
        (source, target) => {
            macro_rules! pair {
                ($to:ty, $from:ty) => {{
                    let cast: CastFn = Box::new(|array, _| {
                        let result: PrimitiveArray<$to> =
                            array.as_primitive::<$from>().unary(|v| v.convert());
                        Ok(Arc::new(result) as ArrayRef)
                    });
                    Some(cast)
                }};
            }
            macro_rules! source {
                ($from:ty) => {
                    with_number!(target, pair, $from)
                };
            }
            with_number!(source, source)
        }
    }
}

/// Applies a function that may give NULL to a decimal column's numbers.
fn decimals(array: impl Iterator<Item = Option<Option<i128>>>, arrow: &ArrowType) -> ArrayRef {
    let result: PrimitiveArray<Decimal128Type> = array.map(Option::flatten).collect();
    Arc::new(result.with_data_type(arrow.clone()))
}

fn rescale(from: (u8, u8), to: (u8, u8), arrow: ArrowType) -> CastFn {
    let ((from_precision, scale), (precision, wanted)) = (from, to);
    let added = wanted.saturating_sub(scale);
    // Every number of the old type fits: the digits stay, zeros may follow them.
    if wanted >= scale
        && precision >= from_precision + added
        && let Some(factor) = pow10(added.into())
    {
        return Box::new(move |array, _| {
            let numbers = array.as_primitive::<Decimal128Type>();
            let numbers = if factor == 1 {
                numbers.clone()
            } else {
                numbers.unary(|v| v * factor)
            };
            Ok(Arc::new(numbers.with_data_type(arrow.clone())))
        });
    }
    Box::new(move |array, _| {
        let numbers = array.as_primitive::<Decimal128Type>().iter();
        let fitted = numbers.map(|v| {
            v.map(|v| {
                Decimal::new(v, scale)
                    .fit(precision, wanted)
                    .map(Decimal::unscaled)
            })
        });
        Ok(decimals(fitted, &arrow))
    })
}

fn to_decimal(source: &LogicalType, precision: u8, scale: u8, arrow: ArrowType) -> Option<CastFn> {
    let limit = pow10(precision.into())?;
    let factor = pow10(scale.into())?;
    macro_rules! integer {
        ($from:ty) => {
            Some(Box::new(move |array, _| {
                let numbers = array.as_primitive::<$from>().iter().map(|v| {
                    v.map(|v| {
                        i128::from(v)
                            .checked_mul(factor)
                            .filter(|n| (-limit < *n) && (*n < limit))
                    })
                });
                Ok(decimals(numbers, &arrow))
            }))
        };
    }
    macro_rules! float {
        ($from:ty, $text:expr) => {
            Some(Box::new(move |array, _| {
                let numbers = array.as_primitive::<$from>().iter().map(|v| {
                    v.map(|v| {
                        let number: Option<Decimal> = $text(v);
                        number
                            .and_then(|d| d.fit(precision, scale))
                            .map(Decimal::unscaled)
                    })
                });
                Ok(decimals(numbers, &arrow))
            }))
        };
    }
    match source {
        LogicalType::TinyInt => integer!(Int8Type),
        LogicalType::SmallInt => integer!(Int16Type),
        LogicalType::Int => integer!(Int32Type),
        LogicalType::BigInt => integer!(Int64Type),
        // The shortest digits of the float, not those of the double it becomes.
        LogicalType::Float => float!(Float32Type, |v: f32| {
            if v.is_finite() {
                v.to_string().parse().ok()
            } else {
                None
            }
        }),
        LogicalType::Double => float!(Float64Type, Decimal::from_f64),
        _ => None,
    }
}

/// The nearest double of a decimal.
pub(crate) fn decimal_to_f64(unscaled: i128, scale: u8) -> f64 {
    // Both are exact doubles, so that the one division rounds correctly.
    if unscaled.unsigned_abs() < 1 << 53 && scale <= 22 {
        return unscaled as f64 / 10_f64.powi(scale.into());
    }
    Decimal::new(unscaled, scale).to_f64()
}

fn from_decimal(scale: u8, target: &LogicalType) -> Option<CastFn> {
    let divisor = pow10(scale.into())?;
    macro_rules! integer {
        ($to:ty, $native:ty) => {
            Some(Box::new(move |array, _| {
                let result: PrimitiveArray<$to> = array
                    .as_primitive::<Decimal128Type>()
                    .unary(|v| (v / divisor) as i64 as $native);
                Ok(Arc::new(result) as ArrayRef)
            }))
        };
    }
    macro_rules! float {
        ($to:ty, $native:ty) => {
            Some(Box::new(move |array, _| {
                let result: PrimitiveArray<$to> = array
                    .as_primitive::<Decimal128Type>()
                    .unary(|v| decimal_to_f64(v, scale) as $native);
                Ok(Arc::new(result) as ArrayRef)
            }))
        };
    }
    match target {
        LogicalType::TinyInt => integer!(Int8Type, i8),
        LogicalType::SmallInt => integer!(Int16Type, i16),
        LogicalType::Int => integer!(Int32Type, i32),
        LogicalType::BigInt => integer!(Int64Type, i64),
        LogicalType::Float => float!(Float32Type, f32),
        LogicalType::Double => float!(Float64Type, f64),
        _ => None,
    }
}

pub(super) fn from_boolean(to: &DataType) -> Option<CastFn> {
    if let LogicalType::Decimal { scale, precision } = to.logical {
        // A one needs a digit before the point.
        let one = (precision > scale).then(|| pow10(scale.into())).flatten();
        let arrow = to.to_arrow();
        return Some(Box::new(move |array, _| {
            let flags = array.as_boolean().iter();
            Ok(decimals(
                flags.map(|v| v.map(|v| if v { one } else { Some(0) })),
                &arrow,
            ))
        }));
    }
    macro_rules! target {
        ($to:ty) => {{
            let cast: CastFn = Box::new(|array, _| {
                let result: PrimitiveArray<$to> = array
                    .as_boolean()
                    .iter()
                    .map(|v| v.map(|v| i8::from(v).convert()))
                    .collect();
                Ok(Arc::new(result) as ArrayRef)
            });
            Some(cast)
        }};
    }
    with_number!(&to.logical, target)
}

pub(super) fn to_boolean(from: &LogicalType) -> Option<CastFn> {
    macro_rules! source {
        ($from:ty) => {{
            let cast: CastFn = Box::new(|array, _| {
                let numbers = array.as_primitive::<$from>();
                let values = numbers.values();
                let zero = <$from as arrow_array::ArrowPrimitiveType>::Native::default();
                let bits = BooleanBuffer::collect_bool(values.len(), |i| values[i] != zero);
                Ok(Arc::new(BooleanArray::new(bits, numbers.nulls().cloned())) as ArrayRef)
            });
            Some(cast)
        }};
    }
    with_number!(from, source)
}

//! `ROUND` (half away from zero) and `TRUNCATE`, at a number of digits after the point.

use aquifer_types::decimal::{pow10, round_type};
use aquifer_types::{DataType, Decimal, LogicalType, Value};

use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{F32, F64, I8, I16, I32, I64, Unscaled, map2};
use crate::signature::{Argument, Inferred, Kind};

/// The number of digits, if it is a literal; none written means zero.
fn literal_digits(arguments: &[Argument<'_>]) -> Option<i32> {
    match arguments.get(1) {
        None => Some(0),
        Some(argument) => argument
            .literal
            .and_then(Value::as_i64)
            .map(|digits| digits.clamp(-100, 100) as i32),
    }
}

fn infer(arguments: &[Argument<'_>], truncate: bool) -> Option<Inferred> {
    let (value, digits) = match arguments {
        [value] => (value, None),
        [value, digits] => (value, Some(Kind::Int.accept(digits)?)),
        _ => return None,
    };
    let taken = Kind::Numeric.accept(value)?;
    let logical = match (&taken.logical, literal_digits(arguments)) {
        (LogicalType::Decimal { precision, scale }, Some(digits)) => {
            let (precision, scale) = if truncate {
                (*precision, digits.clamp(0, (*scale).into()) as u8)
            } else {
                round_type((*precision, *scale), digits)
            };
            LogicalType::Decimal { precision, scale }
        }
        (other, _) => other.clone(),
    };
    let nullable = taken.nullable || digits.as_ref().is_some_and(|d| d.nullable);
    let result = DataType { logical, nullable };
    Some(Inferred {
        arguments: std::iter::once(taken).chain(digits).collect(),
        result,
    })
}

/// Cuts or rounds an unscaled number at `digits` after the point, and brings it to a scale.
fn at_digits(number: Decimal, digits: i32, truncate: bool, scale: u8) -> Option<Decimal> {
    // Digits kept after the point count positive, whole digits dropped negative.
    let dropped = i32::from(number.scale()).saturating_sub(digits);
    if dropped <= 0 {
        return number.rescale(scale);
    }
    let Some(unit) = pow10(dropped as u32) else {
        return Decimal::new(0, scale).rescale(scale);
    };
    let (quotient, rest) = (number.unscaled() / unit, number.unscaled() % unit);
    let up = !truncate && rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2);
    let kept = if up {
        quotient + number.unscaled().signum()
    } else {
        quotient
    };
    Decimal::new(kept.checked_mul(unit)?, number.scale()).rescale(scale)
}

fn double(value: f64, digits: i32, truncate: bool) -> f64 {
    // As Java's BigDecimal.valueOf: the shortest digits of the double decide.
    let Some(number) = Decimal::from_f64(value) else {
        return value;
    };
    at_digits(number, digits, truncate, number.scale()).map_or(value, Decimal::to_f64)
}

fn kernel(args: &KernelArgs<'_>, truncate: bool) -> Result<Kernel> {
    macro_rules! integer {
        ($read:ty, $native:ty) => {
            map2::<$read, I32, $native>(args.result, move |value, digits| {
                if digits >= 0 {
                    return Ok(Some(value));
                }
                let rounded = at_digits(Decimal::from(i64::from(value)), digits, truncate, 0);
                Ok(rounded.map(|d| d.unscaled() as $native))
            })
        };
    }
    let two: Kernel = match (&args.types[0].logical, &args.result.logical) {
        (LogicalType::TinyInt, _) => integer!(I8, i8),
        (LogicalType::SmallInt, _) => integer!(I16, i16),
        (LogicalType::Int, _) => integer!(I32, i32),
        (LogicalType::BigInt, _) => integer!(I64, i64),
        (LogicalType::Float, _) => map2::<F32, I32, f32>(args.result, move |value, digits| {
            if !value.is_finite() {
                return Ok(Some(value));
            }
            let number: Option<Decimal> = value.to_string().parse().ok();
            let rounded = number.and_then(|n| at_digits(n, digits, truncate, n.scale()));
            Ok(Some(rounded.map_or(value, |d| d.to_f64() as f32)))
        }),
        (LogicalType::Double, _) => map2::<F64, I32, f64>(args.result, move |value, digits| {
            Ok(Some(double(value, digits, truncate)))
        }),
        (
            LogicalType::Decimal { scale, .. },
            LogicalType::Decimal {
                precision,
                scale: wanted,
            },
        ) => {
            let (scale, precision, wanted) = (*scale, *precision, *wanted);
            map2::<Unscaled, I32, i128>(args.result, move |value, digits| {
                let rounded = at_digits(Decimal::new(value, scale), digits, truncate, wanted);
                Ok(rounded
                    .and_then(|d| d.fit(precision, wanted))
                    .map(Decimal::unscaled))
            })
        }
        _ => return Err(FunctionError::runtime("only numbers are rounded")),
    };
    if args.types.len() == 2 {
        return Ok(two);
    }
    let zero =
        crate::column::Column::Scalar(std::sync::Arc::new(arrow_array::Int32Array::from(vec![0])));
    Ok(Box::new(move |columns, context| {
        two(&[columns[0].clone(), zero.clone()], context)
    }))
}

pub(super) const ROUND: BuiltIn = BuiltIn::with(
    "ROUND",
    "The number rounded to a number of digits after the point, halves away from zero.",
    Inference::Custom(&["ROUND(<NUMERIC>)", "ROUND(<NUMERIC>, INT)"], |a| {
        infer(a, false)
    }),
    Implementation::Kernel(|args| kernel(args, false)),
)
.infallible();

pub(super) const TRUNCATE: BuiltIn = BuiltIn::with(
    "TRUNCATE",
    "The number cut at a number of digits after the point.",
    Inference::Custom(&["TRUNCATE(<NUMERIC>)", "TRUNCATE(<NUMERIC>, INT)"], |a| {
        infer(a, true)
    }),
    Implementation::Kernel(|args| kernel(args, true)),
)
.infallible();

//! `FLOOR` and `CEIL`: of numbers, and of points in time to a unit.

use aquifer_types::decimal::pow10;
use aquifer_types::{DataType, LogicalType};
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type};

use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::Result;
use crate::kernel::primitive::unary;
use crate::scalar::temporal::round_to_unit;
use crate::signature::{Argument, Inferred, Kind};

fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    match arguments {
        [number] => {
            let taken = Kind::Numeric.accept(number)?;
            let logical = match taken.logical {
                LogicalType::Decimal { precision, .. } => LogicalType::Decimal {
                    precision,
                    scale: 0,
                },
                ref other => other.clone(),
            };
            let result = DataType {
                logical,
                nullable: taken.nullable,
            };
            Some(Inferred {
                arguments: vec![taken],
                result,
            })
        }
        [point, unit] => round_to_unit::infer(point, unit),
        _ => None,
    }
}

fn kernel(args: &KernelArgs<'_>, up: bool) -> Result<Kernel> {
    if args.types.len() == 2 {
        return round_to_unit::kernel(args, up);
    }
    let result = args.result.to_arrow();
    match args.types[0].logical {
        LogicalType::Float => Ok(Box::new(move |c, _| {
            let f = if up { f32::ceil } else { f32::floor };
            Ok(unary::<Float32Type, Float32Type>(&c[0], &result, f))
        })),
        LogicalType::Double => Ok(Box::new(move |c, _| {
            let f = if up { f64::ceil } else { f64::floor };
            Ok(unary::<Float64Type, Float64Type>(&c[0], &result, f))
        })),
        LogicalType::Decimal { scale, .. } => {
            let unit = pow10(scale.into()).unwrap_or(1);
            Ok(Box::new(move |c, _| {
                Ok(unary::<Decimal128Type, Decimal128Type>(
                    &c[0],
                    &result,
                    |v| {
                        let floor = v.div_euclid(unit);
                        floor + i128::from(up && v.rem_euclid(unit) != 0)
                    },
                ))
            }))
        }
        _ => Ok(Box::new(|c, _| Ok(c[0].clone()))),
    }
}

pub(super) const FLOOR: BuiltIn = BuiltIn::with(
    "FLOOR",
    "The largest whole number that is not greater, or the begin of the unit that a point in time is in.",
    Inference::Custom(&["FLOOR(<NUMERIC>)", "FLOOR(<DATETIME> TO <UNIT>)"], infer),
    Implementation::Kernel(|args| kernel(args, false)),
)
.infallible();

pub(super) const CEIL: BuiltIn = BuiltIn::with(
    "CEIL",
    "The smallest whole number that is not less, or the begin of the next unit after a point in time.",
    Inference::Custom(&["CEIL(<NUMERIC>)", "CEIL(<DATETIME> TO <UNIT>)"], infer),
    Implementation::Kernel(|args| kernel(args, true)),
)
.aliases(&["CEILING"])
.infallible();

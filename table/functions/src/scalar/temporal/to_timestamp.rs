//! `TO_TIMESTAMP` and `TO_TIMESTAMP_LTZ`.

use aquifer_types::temporal::{TimeZone, parse_timestamp};
use aquifer_types::{DataType, DataTypes, LogicalType, Timestamp, Value};

use super::pattern::{Cache, Pattern};
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs, Nulls};
use crate::error::Result;
use crate::kernel::rows::{F64, I32, I64, Text, map1, map2, map3};
use crate::signature::{Argument, Inferred, Kind, Returns, Signature};

pub(super) const TO_TIMESTAMP: BuiltIn = BuiltIn::new(
    "TO_TIMESTAMP",
    "A text as a timestamp, by a Java date pattern if one is given; NULL if it is none.",
    &[
        Signature::new(&[Kind::Text], Returns::Timestamp(3)),
        Signature::new(&[Kind::Text, Kind::Text], Returns::Timestamp(3)),
    ],
    |args| {
        if args.types.len() == 1 {
            return Ok(map1::<Text, Timestamp>(args.result, |text| {
                Ok(parse_timestamp(text))
            }));
        }
        let cache = Cache::default();
        Ok(map2::<Text, Text, Timestamp>(
            args.result,
            move |text, pattern| cache.with(pattern, |pattern| pattern.read(text)),
        ))
    },
)
.nulls(Nulls::Always);

pub(super) const TO_TIMESTAMP_LTZ: BuiltIn = BuiltIn::with(
    "TO_TIMESTAMP_LTZ",
    "Seconds (precision 0) or milliseconds (3) since 1970, or a text in a time zone, as an instant.",
    Inference::Custom(
        &[
            "TO_TIMESTAMP_LTZ(<NUMERIC>)",
            "TO_TIMESTAMP_LTZ(<NUMERIC>, INT)",
            "TO_TIMESTAMP_LTZ(<CHARACTER_STRING>)",
            "TO_TIMESTAMP_LTZ(<CHARACTER_STRING>, <CHARACTER_STRING>)",
            "TO_TIMESTAMP_LTZ(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)",
        ],
        infer,
    ),
    Implementation::Kernel(kernel),
)
.nulls(Nulls::Always);

fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let (first, rest) = arguments.split_first()?;
    let result = |precision: u8| DataTypes::timestamp_ltz(precision);
    if first.data_type.is_numeric() {
        let mut types: Vec<DataType> = vec![if first.data_type.logical.is_integer() {
            Kind::BigInt.accept(first)?
        } else {
            Kind::Double.accept(first)?
        }];
        match rest {
            [] => {}
            [precision] => {
                if let Some(Value::Int(found)) = precision.literal
                    && !matches!(found, 0 | 3)
                {
                    return None;
                }
                types.push(Kind::Int.accept(precision)?);
            }
            _ => return None,
        }
        return Some(Inferred {
            arguments: types,
            result: result(3),
        });
    }
    if rest.len() > 2 {
        return None;
    }
    let types = arguments
        .iter()
        .map(|a| Kind::Text.accept(a))
        .collect::<Option<_>>()?;
    // The pattern's digits of the second decide about the precision.
    let digits = match rest.first().and_then(Argument::text) {
        Some(pattern) => Pattern::compile(pattern).ok()?.fraction_digits().max(3),
        None => 3,
    };
    Some(Inferred {
        arguments: types,
        result: result(digits as u8),
    })
}

/// An instant of a number of seconds (precision 0) or milliseconds (3).
fn of_integer(number: i64, precision: i32) -> Option<Timestamp> {
    let factor = match precision {
        0 => 1_000_000,
        3 => 1000,
        _ => return None,
    };
    number.checked_mul(factor).map(Timestamp::from_micros)
}

fn of_double(number: f64, precision: i32) -> Option<Timestamp> {
    let millis = match precision {
        0 => number * 1000.0,
        3 => number,
        _ => return None,
    };
    (millis.abs() < 9e15).then(|| Timestamp::from_millis(millis as i64))
}

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let result = args.result.clone();
    match (&args.types[0].logical, args.types.len()) {
        (LogicalType::BigInt, 1) => Ok(map1::<I64, Timestamp>(&result, |number| {
            Ok(of_integer(number, 3))
        })),
        (LogicalType::BigInt, _) => Ok(map2::<I64, I32, Timestamp>(&result, |number, p| {
            Ok(of_integer(number, p))
        })),
        (LogicalType::Double, 1) => Ok(map1::<F64, Timestamp>(&result, |number| {
            Ok(of_double(number, 3))
        })),
        (LogicalType::Double, _) => Ok(map2::<F64, I32, Timestamp>(&result, |number, p| {
            Ok(of_double(number, p))
        })),
        (_, 3) => {
            let cache = Cache::default();
            Ok(map3::<Text, Text, Text, Timestamp>(
                &result,
                move |text, pattern, zone| {
                    let Ok(zone) = zone.parse::<TimeZone>() else {
                        return Ok(None);
                    };
                    // What is no pattern reads nothing.
                    let local = cache
                        .with(pattern, |pattern| pattern.read(text))
                        .ok()
                        .flatten();
                    Ok(local.map(|local| zone.to_instant(local)))
                },
            ))
        }
        (_, 2) => {
            let cache = Cache::default();
            Ok(map2::<Text, Text, Timestamp>(
                &result,
                move |text, pattern| {
                    Ok(cache
                        .with(pattern, |pattern| pattern.read(text))
                        .ok()
                        .flatten())
                },
            ))
        }
        _ => Ok(map1::<Text, Timestamp>(&result, |text| {
            Ok(parse_timestamp(text))
        })),
    }
}

//! `TIMESTAMPDIFF`: whole units between two points in time.

use aquifer_types::temporal::{MICROS_PER_DAY, civil_from_days};
use aquifer_types::{DataType, DataTypes, LogicalType, Timestamp};

use super::unit::Unit;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::Result;
use crate::kernel::rows::{Stamp, map2};
use crate::scalar::arithmetic::add_months_to;
use crate::signature::{Argument, Inferred};

pub(super) const TIMESTAMPDIFF: BuiltIn = BuiltIn::with(
    "TIMESTAMPDIFF",
    "The whole units from the first point in time to the second; negative if that is earlier.",
    Inference::Custom(
        &["TIMESTAMPDIFF(<UNIT>, <DATETIME>, <DATETIME>)"],
        |arguments| {
            let [unit, from, to] = arguments else {
                return None;
            };
            let name = Unit::of(unit.text()?)?;
            if name.months().is_none() && length(name).is_none() {
                return None;
            }
            let taken = [from, to].map(as_timestamp);
            let [Some(mut from), Some(mut to)] = taken else {
                return None;
            };
            // An instant is compared with a local time in the session's time zone.
            let both_instants = [&from, &to]
                .iter()
                .all(|t| matches!(t.logical, LogicalType::TimestampLtz(_)));
            if !both_instants {
                for side in [&mut from, &mut to] {
                    if let LogicalType::TimestampLtz(p) = side.logical {
                        side.logical = LogicalType::Timestamp(p);
                    }
                }
            }
            let result = DataTypes::int().with_nullable(from.nullable || to.nullable);
            Some(Inferred {
                arguments: vec![unit.data_type.clone(), from, to],
                result,
            })
        },
    ),
    Implementation::Kernel(kernel),
)
.infallible();

fn as_timestamp(argument: &Argument<'_>) -> Option<DataType> {
    let logical = match argument.data_type.logical {
        LogicalType::Date | LogicalType::Time(_) | LogicalType::Null => LogicalType::Timestamp(3),
        LogicalType::Timestamp(p) => LogicalType::Timestamp(p),
        LogicalType::TimestampLtz(p) => LogicalType::TimestampLtz(p),
        _ => return None,
    };
    Some(DataType {
        logical,
        nullable: argument.data_type.nullable,
    })
}

/// The unit's length in microseconds, if it is fixed.
fn length(unit: Unit) -> Option<i64> {
    match unit {
        Unit::Week => Some(7 * MICROS_PER_DAY),
        Unit::Day => Some(MICROS_PER_DAY),
        other => other.micros(),
    }
}

/// Whole months from one point to another.
fn months_between(from: i64, to: i64) -> i64 {
    let month = |micros: i64| {
        let (year, month, _) = civil_from_days(micros.div_euclid(MICROS_PER_DAY));
        year * 12 + i64::from(month)
    };
    let mut months = month(to) - month(from);
    let moved = add_months_to(from, months, MICROS_PER_DAY);
    // The last month is not complete if it would go beyond.
    if months > 0 && moved > to {
        months -= 1;
    } else if months < 0 && moved < to {
        months += 1;
    }
    months
}

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let unit = Unit::of_literal(args.literal_text(0), "TIMESTAMPDIFF", 1)?;
    let difference = move |from: Timestamp, to: Timestamp| {
        let (from, to) = (from.to_micros(), to.to_micros());
        match (unit.months(), length(unit)) {
            (Some(months), _) => months_between(from, to) / months,
            (None, Some(length)) => to.wrapping_sub(from) / length,
            (None, None) => 0,
        }
    };
    let two = map2::<Stamp, Stamp, i32>(args.result, move |from, to| {
        Ok(Some(difference(from, to) as i32))
    });
    Ok(Box::new(move |columns, context| {
        two(&columns[1..], context)
    }))
}

//! `FLOOR(point TO unit)` and `CEIL(point TO unit)`.
//!
//! Weeks begin on Sunday; centuries and millennia in their first year (1901, 2001).

use aquifer_types::temporal::{MICROS_PER_DAY, civil_from_days, days_from_civil};
use aquifer_types::{LogicalType, Timestamp};

use super::unit::Unit;
use crate::definition::{Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{Date, DateOut, Stamp, Time, TimeOut, map1};
use crate::signature::{Argument, Inferred};

pub(crate) fn infer(point: &Argument<'_>, unit: &Argument<'_>) -> Option<Inferred> {
    let unit_type = unit.data_type.clone();
    let unit = Unit::of(unit.text()?)?;
    let possible = unit.micros().is_some()
        || unit.months().is_some()
        || matches!(unit, Unit::Week | Unit::Day);
    let taken = match point.data_type.logical {
        LogicalType::Date | LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => possible,
        LogicalType::Time(_) => unit.micros().is_some(),
        _ => false,
    };
    taken.then(|| Inferred {
        arguments: vec![point.data_type.clone(), unit_type],
        result: point.data_type.clone(),
    })
}

/// Returns the first day of the unit that a day is in, and of the next one.
fn frame(days: i64, unit: Unit) -> (i64, i64) {
    let (year, month, _) = civil_from_days(days);
    let years = |begin: i64, length: i64| {
        (
            days_from_civil(begin, 1, 1),
            days_from_civil(begin + length, 1, 1),
        )
    };
    match unit {
        Unit::Millennium => years((year - 1).div_euclid(1000) * 1000 + 1, 1000),
        Unit::Century => years((year - 1).div_euclid(100) * 100 + 1, 100),
        Unit::Decade => years(year.div_euclid(10) * 10, 10),
        Unit::Year => years(year, 1),
        Unit::Quarter | Unit::Month => {
            let length = if unit == Unit::Month { 1 } else { 3 };
            let begin = (month - 1) / length * length;
            let next = begin + length;
            let end = if next >= 12 {
                (year + 1, 1)
            } else {
                (year, next + 1)
            };
            (
                days_from_civil(year, begin + 1, 1),
                days_from_civil(end.0, end.1, 1),
            )
        }
        Unit::Week => {
            let begin = days - (days + 4).rem_euclid(7);
            (begin, begin + 7)
        }
        _ => (days, days + 1),
    }
}

fn date(days: i64, unit: Unit, up: bool) -> i64 {
    if unit.micros().is_some() {
        return days;
    }
    let (begin, next) = frame(days, unit);
    // The next day even for a date that is the begin of its day, as Flink has it.
    if up && (begin != days || unit == Unit::Day) {
        next
    } else {
        begin
    }
}

fn timestamp(local: Timestamp, unit: Unit, up: bool) -> Timestamp {
    let micros = local.to_micros();
    if let Some(length) = unit.micros() {
        let begin = micros.div_euclid(length) * length;
        let exact = begin == micros && local.sub_micro_nanos() == 0;
        return Timestamp::from_micros(if up && !exact {
            begin.saturating_add(length)
        } else {
            begin
        });
    }
    let (begin, next) = frame(micros.div_euclid(MICROS_PER_DAY), unit);
    let (begin, next) = (
        begin.saturating_mul(MICROS_PER_DAY),
        next.saturating_mul(MICROS_PER_DAY),
    );
    let exact = begin == micros && local.sub_micro_nanos() == 0;
    Timestamp::from_micros(if up && !exact { next } else { begin })
}

pub(crate) fn kernel(args: &KernelArgs<'_>, up: bool) -> Result<Kernel> {
    let unit = Unit::of_literal(args.literal_text(1), if up { "CEIL" } else { "FLOOR" }, 2)?;
    let one: Kernel = match args.types[0].logical {
        LogicalType::Date => map1::<Date, DateOut>(args.result, move |days| {
            Ok(Some(DateOut(date(days.into(), unit, up) as i32)))
        }),
        LogicalType::Time(_) => map1::<Time, TimeOut>(args.result, move |millis| {
            let rounded = timestamp(Timestamp::from_millis(millis.into()), unit, up);
            Ok(Some(TimeOut(
                rounded.to_millis().rem_euclid(86_400_000) as i32
            )))
        }),
        LogicalType::Timestamp(_) => map1::<Stamp, Timestamp>(args.result, move |point| {
            Ok(Some(timestamp(point, unit, up)))
        }),
        LogicalType::TimestampLtz(_) => {
            let result = args.result.clone();
            Box::new(move |columns, context| {
                let zone = context.eval.time_zone;
                let local = map1::<Stamp, Timestamp>(&result, move |point| {
                    Ok(Some(zone.to_instant(timestamp(
                        zone.to_local(point),
                        unit,
                        up,
                    ))))
                });
                local(columns, context)
            })
        }
        _ => {
            return Err(FunctionError::runtime(
                "only points in time are rounded to a unit",
            ));
        }
    };
    Ok(Box::new(move |columns, context| {
        one(&columns[..1], context)
    }))
}

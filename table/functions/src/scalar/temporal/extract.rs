//! `EXTRACT` and the functions that are short for it.

use aquifer_types::temporal::{MICROS_PER_DAY, civil_from_days, days_from_civil, iso_week};
use aquifer_types::{DataType, DataTypes, LogicalType, Timestamp};

use super::unit::Unit;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::expression::ResolvedExpr;
use crate::kernel::rows::{Date, Millis, Months, Read, Stamp, Time, map1};
use crate::signature::{Argument, Inferred};

/// A field of a day.
fn of_day(days: i64, unit: Unit) -> Option<i64> {
    let (year, month, day) = civil_from_days(days);
    Some(match unit {
        Unit::Millennium if year > 0 => (year + 999) / 1000,
        Unit::Millennium => (year - 999) / 1000,
        Unit::Century if year > 0 => (year + 99) / 100,
        Unit::Century => (year - 99) / 100,
        Unit::Decade => year.div_euclid(10),
        Unit::Year => year,
        Unit::IsoYear => iso_week(days).0,
        Unit::Quarter => i64::from(month.div_ceil(3)),
        Unit::Month => month.into(),
        Unit::Week => iso_week(days).1.into(),
        Unit::DayOfYear => days - days_from_civil(year, 1, 1) + 1,
        // 1970-01-01 was a Thursday; Sunday is one.
        Unit::DayOfWeek => (days + 4).rem_euclid(7) + 1,
        Unit::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
        Unit::Day => day.into(),
        Unit::Epoch => days * 86_400,
        _ => return None,
    })
}

/// A field of a time of day in nanoseconds; seconds' fractions count within the second.
fn of_time(nanos: i64, unit: Unit) -> Option<i64> {
    let seconds = nanos / 1_000_000_000;
    let fraction = nanos % 1_000_000_000;
    Some(match unit {
        Unit::Hour => seconds / 3600,
        Unit::Minute => seconds / 60 % 60,
        Unit::Second => seconds % 60,
        Unit::Millisecond => fraction / 1_000_000,
        Unit::Microsecond => fraction / 1000,
        Unit::Nanosecond => fraction,
        Unit::Epoch => seconds,
        _ => return None,
    })
}

fn of_timestamp(local: Timestamp, unit: Unit) -> Option<i64> {
    let micros = local.to_micros();
    if unit == Unit::Epoch {
        return Some(micros.div_euclid(1_000_000));
    }
    let of_day_nanos =
        micros.rem_euclid(MICROS_PER_DAY) * 1000 + i64::from(local.sub_micro_nanos());
    of_time(of_day_nanos, unit).or_else(|| of_day(micros.div_euclid(MICROS_PER_DAY), unit))
}

fn of_months(months: i32, unit: Unit) -> Option<i64> {
    let (year, month) = (i64::from(months / 12), i64::from(months % 12));
    Some(match unit {
        Unit::Millennium => year / 1000,
        Unit::Century => year / 100,
        Unit::Decade => year / 10,
        Unit::Year => year,
        Unit::Quarter => month / 3 + 1,
        Unit::Month => month,
        _ => return None,
    })
}

fn of_millis(millis: i64, unit: Unit) -> Option<i64> {
    Some(match unit {
        Unit::Day => millis / 86_400_000,
        Unit::Hour => millis / 3_600_000 % 24,
        Unit::Minute => millis / 60_000 % 60,
        Unit::Second => millis / 1000 % 60,
        Unit::Millisecond => millis % 1000,
        Unit::Microsecond => millis % 1000 * 1000,
        Unit::Nanosecond => millis % 1000 * 1_000_000,
        Unit::Epoch => millis / 1000,
        _ => return None,
    })
}

/// Whether a type has the field.
fn has_field(logical: &LogicalType, unit: Unit) -> bool {
    match logical {
        LogicalType::Date => {
            of_day(0, unit).is_some() || matches!(unit, Unit::Hour | Unit::Minute | Unit::Second)
        }
        LogicalType::Time(_) => of_time(0, unit).is_some(),
        LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => true,
        LogicalType::IntervalYearMonth => of_months(0, unit).is_some(),
        LogicalType::IntervalDayTime => of_millis(0, unit).is_some(),
        _ => false,
    }
}

fn infer_field(unit: Unit, point: &Argument<'_>) -> Option<DataType> {
    let data_type = match point.data_type.logical {
        LogicalType::Null => DataTypes::timestamp(3),
        _ => point.data_type.clone(),
    };
    has_field(&data_type.logical, unit).then_some(data_type)
}

pub(super) const EXTRACT: BuiltIn = BuiltIn::with(
    "EXTRACT",
    "A field of a point in time or an interval.",
    Inference::Custom(
        &[
            "EXTRACT(<UNIT> FROM <DATETIME>)",
            "EXTRACT(<UNIT> FROM <INTERVAL>)",
        ],
        |arguments| {
            let [unit, point] = arguments else {
                return None;
            };
            let taken = infer_field(Unit::of(unit.text()?)?, point)?;
            let result = DataTypes::bigint().with_nullable(taken.nullable);
            Some(Inferred {
                arguments: vec![unit.data_type.clone(), taken],
                result,
            })
        },
    ),
    Implementation::Kernel(kernel),
)
.infallible();

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let unit = Unit::of_literal(args.literal_text(0), "EXTRACT", 1)?;
    fn of<A: Read>(
        args: &KernelArgs<'_>,
        f: impl for<'a> Fn(A::Item<'a>) -> Option<i64> + Send + Sync + 'static,
    ) -> Kernel {
        let one = map1::<A, i64>(args.result, move |value| Ok(f(value)));
        Box::new(move |columns, context| one(&columns[1..], context))
    }
    Ok(match args.types[1].logical {
        LogicalType::Date => of::<Date>(args, move |v| of_day(v.into(), unit).or(Some(0))),
        LogicalType::Time(_) => of::<Time>(args, move |v| of_time(i64::from(v) * 1_000_000, unit)),
        LogicalType::Timestamp(_) => of::<Stamp>(args, move |v| of_timestamp(v, unit)),
        LogicalType::TimestampLtz(_) => Box::new(move |columns, context| {
            let zone = context.eval.time_zone;
            let local = map1::<Stamp, i64>(&DataTypes::bigint(), move |v| {
                // Seconds since the epoch are the same everywhere.
                let point = if unit == Unit::Epoch {
                    v
                } else {
                    zone.to_local(v)
                };
                Ok(of_timestamp(point, unit))
            });
            local(&columns[1..], context)
        }),
        LogicalType::IntervalYearMonth => of::<Months>(args, move |v| of_months(v, unit)),
        LogicalType::IntervalDayTime => of::<Millis>(args, move |v| of_millis(v, unit)),
        _ => {
            return Err(FunctionError::runtime(
                "EXTRACT takes points in time and intervals only",
            ));
        }
    })
}

macro_rules! short_forms {
    ($($constant:ident = $unit:ident, $word:literal, $doc:literal;)+) => {$(
        pub(super) const $constant: BuiltIn = BuiltIn::with(
            stringify!($constant),
            $doc,
            Inference::Custom(&[concat!(stringify!($constant), "(<DATETIME>)")], |arguments| {
                let [point] = arguments else { return None };
                let taken = infer_field(Unit::$unit, point)?;
                let result = DataTypes::bigint().with_nullable(taken.nullable);
                Some(Inferred { arguments: vec![taken], result })
            }),
            Implementation::Rewrite(|args, _| {
                ResolvedExpr::call("EXTRACT", [ResolvedExpr::literal($word), args[0].clone()])
            }),
        )
        .infallible();
    )+};
}

short_forms! {
    DAYOFMONTH = Day, "DAY", "The day of the month, from 1.";
    DAYOFWEEK = DayOfWeek, "DOW", "The day of the week; Sunday is 1.";
    DAYOFYEAR = DayOfYear, "DOY", "The day of the year, from 1.";
    HOUR = Hour, "HOUR", "The hour of the day, from 0.";
    MINUTE = Minute, "MINUTE", "The minute of the hour, from 0.";
    MONTH = Month, "MONTH", "The month of the year, from 1.";
    QUARTER = Quarter, "QUARTER", "The quarter of the year, from 1.";
    SECOND = Second, "SECOND", "The second of the minute, from 0.";
    WEEK = Week, "WEEK", "The ISO week of the year, from 1.";
    YEAR = Year, "YEAR", "The year.";
}

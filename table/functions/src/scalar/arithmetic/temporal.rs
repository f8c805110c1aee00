//! Dates, times, timestamps and intervals in sums and differences.
//!
//! A month added keeps the day of the month where the new month has it, else takes its last day.

use aquifer_types::{DataType, LogicalType, temporal};
use arrow_array::types::{
    Date32Type, DurationMillisecondType, Int32Type, Int64Type, IntervalYearMonthType,
    Time32MillisecondType, TimestampMicrosecondType, TimestampNanosecondType,
};

use crate::definition::{Kernel, KernelArgs};
use crate::kernel::primitive::binary;
use crate::signature::{Argument, Inferred};

/// Returns the day number some months later.
fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = temporal::civil_from_days(days);
    let total = year
        .saturating_mul(12)
        .saturating_add(i64::from(month) - 1)
        .saturating_add(months);
    // Years beyond this overflow the day count; they are far outside of every type's range.
    let total = total.clamp(-12_000_000_000, 12_000_000_000);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    temporal::days_from_civil(year, month, day.min(temporal::days_in_month(year, month)))
}

/// Moves a point in time of `unit` parts per day by months.
pub(in crate::scalar) fn add_months_to(point: i64, months: i64, per_day: i64) -> i64 {
    let days = add_months(point.div_euclid(per_day), months);
    days.wrapping_mul(per_day)
        .wrapping_add(point.rem_euclid(per_day))
}

/// Types of `a + b` or `a - b` where one is an interval or both are points in time.
pub(super) fn infer(arguments: &[Argument<'_>], minus: bool) -> Option<Inferred> {
    use LogicalType as T;
    let [a, b] = arguments else { return None };
    let nullable = a.data_type.nullable || b.data_type.nullable;
    let (x, y) = (&a.data_type.logical, &b.data_type.logical);
    let result = match (x, y) {
        (T::Date | T::Timestamp(_) | T::TimestampLtz(_), T::IntervalYearMonth) => x.clone(),
        (T::Date | T::Time(_) | T::Timestamp(_) | T::TimestampLtz(_), T::IntervalDayTime) => {
            x.clone()
        }
        (T::IntervalYearMonth, T::Date | T::Timestamp(_) | T::TimestampLtz(_)) if !minus => {
            y.clone()
        }
        (T::IntervalDayTime, T::Date | T::Time(_) | T::Timestamp(_) | T::TimestampLtz(_))
            if !minus =>
        {
            y.clone()
        }
        (T::IntervalYearMonth, T::IntervalYearMonth) | (T::IntervalDayTime, T::IntervalDayTime) => {
            x.clone()
        }
        (T::Date, T::Date) | (T::Time(_), T::Time(_)) if minus => T::IntervalDayTime,
        (T::Timestamp(p), T::Timestamp(q)) if minus => {
            // Both sides in one physical form.
            let common = T::Timestamp(*p.max(q));
            return Some(points(a, b, common, nullable));
        }
        (T::TimestampLtz(p), T::TimestampLtz(q)) if minus => {
            let common = T::TimestampLtz(*p.max(q));
            return Some(points(a, b, common, nullable));
        }
        _ => return None,
    };
    Some(Inferred {
        arguments: vec![a.data_type.clone(), b.data_type.clone()],
        result: DataType {
            logical: result,
            nullable,
        },
    })
}

fn points(a: &Argument<'_>, b: &Argument<'_>, common: LogicalType, nullable: bool) -> Inferred {
    let typed = |nullable| DataType {
        logical: common.clone(),
        nullable,
    };
    Inferred {
        arguments: vec![typed(a.data_type.nullable), typed(b.data_type.nullable)],
        result: DataType {
            logical: LogicalType::IntervalDayTime,
            nullable,
        },
    }
}

/// Makes the kernel of a sum (`sign` 1) or difference (`sign` -1).
pub(super) fn kernel(args: &KernelArgs<'_>, sign: i64) -> Option<Kernel> {
    use LogicalType as T;
    let (x, y) = (&args.types[0].logical, &args.types[1].logical);
    let result = args.result.to_arrow();
    macro_rules! run {
        ($a:ty, $b:ty, $r:ty, $f:expr) => {
            Some(Box::new(move |c, _| {
                binary::<$a, $b, $r>(&c[0], &c[1], &result, $f)
            }))
        };
    }
    if x.is_interval() && !y.is_interval() {
        // Interval first: the same with sides exchanged; a sum only.
        let exchanged = [args.types[1].clone(), args.types[0].clone()];
        let inner = kernel(
            &KernelArgs {
                types: &exchanged,
                ..*args
            },
            sign,
        )?;
        return Some(Box::new(move |c, context| {
            inner(&[c[1].clone(), c[0].clone()], context)
        }));
    }
    let day = temporal::MILLIS_PER_DAY;
    match (x, y) {
        (T::Date, T::IntervalYearMonth) => run!(
            Date32Type,
            IntervalYearMonthType,
            Date32Type,
            |d: i32, m: i32| add_months(d.into(), sign * i64::from(m)) as i32
        ),
        (T::Date, T::IntervalDayTime) => run!(
            Date32Type,
            DurationMillisecondType,
            Date32Type,
            |d: i32, ms: i64| d.wrapping_add((sign * (ms / day)) as i32)
        ),
        (T::Time(_), T::IntervalDayTime) => run!(
            Time32MillisecondType,
            DurationMillisecondType,
            Time32MillisecondType,
            |t: i32, ms: i64| i64::from(t)
                .wrapping_add(sign.wrapping_mul(ms))
                .rem_euclid(day) as i32
        ),
        (T::Timestamp(p) | T::TimestampLtz(p), T::IntervalYearMonth) if *p <= 6 => run!(
            TimestampMicrosecondType,
            IntervalYearMonthType,
            TimestampMicrosecondType,
            |t: i64, m: i32| add_months_to(t, sign * i64::from(m), day * 1000)
        ),
        (T::Timestamp(_) | T::TimestampLtz(_), T::IntervalYearMonth) => run!(
            TimestampNanosecondType,
            IntervalYearMonthType,
            TimestampNanosecondType,
            |t: i64, m: i32| add_months_to(t, sign * i64::from(m), day * 1_000_000)
        ),
        (T::Timestamp(p) | T::TimestampLtz(p), T::IntervalDayTime) if *p <= 6 => run!(
            TimestampMicrosecondType,
            DurationMillisecondType,
            TimestampMicrosecondType,
            |t: i64, ms: i64| t.wrapping_add(ms.wrapping_mul(1000 * sign))
        ),
        (T::Timestamp(_) | T::TimestampLtz(_), T::IntervalDayTime) => run!(
            TimestampNanosecondType,
            DurationMillisecondType,
            TimestampNanosecondType,
            |t: i64, ms: i64| t.wrapping_add(ms.wrapping_mul(1_000_000 * sign))
        ),
        (T::IntervalYearMonth, T::IntervalYearMonth) => run!(
            IntervalYearMonthType,
            IntervalYearMonthType,
            IntervalYearMonthType,
            |a: i32, b: i32| a.wrapping_add(b.wrapping_mul(sign as i32))
        ),
        (T::IntervalDayTime, T::IntervalDayTime) => run!(
            DurationMillisecondType,
            DurationMillisecondType,
            DurationMillisecondType,
            |a: i64, b: i64| a.wrapping_add(b.wrapping_mul(sign))
        ),
        (T::Date, T::Date) => run!(
            Date32Type,
            Date32Type,
            DurationMillisecondType,
            |a: i32, b: i32| (i64::from(a) - i64::from(b)) * day
        ),
        (T::Time(_), T::Time(_)) => run!(
            Time32MillisecondType,
            Time32MillisecondType,
            DurationMillisecondType,
            |a: i32, b: i32| i64::from(a) - i64::from(b)
        ),
        (T::Timestamp(p) | T::TimestampLtz(p), _) if *p <= 6 => run!(
            TimestampMicrosecondType,
            TimestampMicrosecondType,
            DurationMillisecondType,
            |a: i64, b: i64| a.div_euclid(1000).wrapping_sub(b.div_euclid(1000))
        ),
        (T::Timestamp(_) | T::TimestampLtz(_), _) => run!(
            TimestampNanosecondType,
            TimestampNanosecondType,
            DurationMillisecondType,
            |a: i64, b: i64| a
                .div_euclid(1_000_000)
                .wrapping_sub(b.div_euclid(1_000_000))
        ),
        _ => None,
    }
}

/// Types of an interval times a whole number.
pub(super) fn infer_times(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [a, b] = arguments else { return None };
    let nullable = a.data_type.nullable || b.data_type.nullable;
    let number = |interval: &LogicalType| match interval {
        LogicalType::IntervalYearMonth => LogicalType::Int,
        _ => LogicalType::BigInt,
    };
    let (x, y) = (&a.data_type.logical, &b.data_type.logical);
    let (first, second, result) = if x.is_interval() && y.is_integer() {
        (x.clone(), number(x), x.clone())
    } else if x.is_integer() && y.is_interval() {
        (number(y), y.clone(), y.clone())
    } else {
        return None;
    };
    Some(Inferred {
        arguments: vec![
            DataType {
                logical: first,
                nullable: a.data_type.nullable,
            },
            DataType {
                logical: second,
                nullable: b.data_type.nullable,
            },
        ],
        result: DataType {
            logical: result,
            nullable,
        },
    })
}

/// Makes the kernel of an interval times a whole number.
pub(super) fn times_kernel(args: &KernelArgs<'_>) -> Option<Kernel> {
    use LogicalType as T;
    let result = args.result.to_arrow();
    let interval_first = args.types[0].logical.is_interval();
    match args.result.logical {
        T::IntervalYearMonth => Some(Box::new(move |c, _| {
            let (i, n) = if interval_first {
                (&c[0], &c[1])
            } else {
                (&c[1], &c[0])
            };
            binary::<IntervalYearMonthType, Int32Type, IntervalYearMonthType>(
                i,
                n,
                &result,
                i32::wrapping_mul,
            )
        })),
        T::IntervalDayTime => Some(Box::new(move |c, _| {
            let (i, n) = if interval_first {
                (&c[0], &c[1])
            } else {
                (&c[1], &c[0])
            };
            binary::<DurationMillisecondType, Int64Type, DurationMillisecondType>(
                i,
                n,
                &result,
                i64::wrapping_mul,
            )
        })),
        _ => None,
    }
}

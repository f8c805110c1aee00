//! Casts among DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.
//!
//! TIMESTAMP_LTZ is an instant: to and from the others it passes through the session's time zone.

use aquifer_types::temporal::{MICROS_PER_DAY, TimeZone};
use aquifer_types::{DataType, LogicalType, Timestamp};
use arrow_array::{Array, ArrayRef};

use super::{CastContext, CastFn, push};
use crate::error::Result;
use crate::kernel::rows::{Date, DateOut, Read, Stamp, Time, TimeOut, Write};

/// Applies a function to each value that is not NULL.
fn each<A: Read, R: Write>(
    array: &ArrayRef,
    to: &DataType,
    context: &CastContext<'_>,
    f: impl for<'a> Fn(A::Item<'a>) -> R,
) -> Result<ArrayRef> {
    use arrow_array::builder::ArrayBuilder as _;
    let view = A::view(array.as_ref());
    let mut builder = R::builder(to, array.len());
    for row in 0..array.len() {
        if array.is_null(row) {
            R::push_null(&mut builder);
        } else {
            push(f(A::get(&view, row)), &mut builder, context)?;
        }
    }
    Ok(builder.finish())
}

fn midnight(days: i32) -> Timestamp {
    Timestamp::from_micros(i64::from(days) * MICROS_PER_DAY)
}

fn date_of(local: Timestamp) -> DateOut {
    DateOut(local.to_micros().div_euclid(MICROS_PER_DAY) as i32)
}

fn time_of(local: Timestamp, precision: u8) -> TimeOut {
    TimeOut(cut_time(
        (local.to_micros().rem_euclid(MICROS_PER_DAY) / 1000) as i32,
        precision,
    ))
}

fn cut_time(millis: i32, precision: u8) -> i32 {
    let unit = 10_i32.pow(3_u32.saturating_sub(precision.into()));
    millis / unit * unit
}

pub(super) fn compile(from: &LogicalType, to: &DataType) -> Option<CastFn> {
    use LogicalType as T;
    let target = to.clone();
    macro_rules! run {
        ($read:ty, $write:ty, |$value:ident, $zone:ident| $body:expr) => {
            Some(Box::new(
                move |array: &ArrayRef, context: &CastContext<'_>| {
                    let $zone: TimeZone = context.eval.time_zone;
                    let _ = $zone;
                    each::<$read, $write>(array, &target, context, |$value| $body)
                },
            ))
        };
    }
    match (from, &to.logical) {
        (T::Date, T::Timestamp(_)) => run!(Date, Timestamp, |d, zone| midnight(d)),
        (T::Date, T::TimestampLtz(_)) => {
            run!(Date, Timestamp, |d, zone| zone.to_instant(midnight(d)))
        }
        (T::Time(_), T::Time(p)) => {
            let p = *p;
            run!(Time, TimeOut, |t, zone| TimeOut(cut_time(t, p)))
        }
        (T::Time(_), T::Timestamp(_)) => {
            run!(Time, Timestamp, |t, zone| Timestamp::from_millis(t.into()))
        }
        (T::Time(_), T::TimestampLtz(_)) => {
            run!(Time, Timestamp, |t, zone| zone
                .to_instant(Timestamp::from_millis(t.into())))
        }
        (T::Timestamp(_), T::Date) => run!(Stamp, DateOut, |t, zone| date_of(t)),
        (T::TimestampLtz(_), T::Date) => {
            run!(Stamp, DateOut, |t, zone| date_of(zone.to_local(t)))
        }
        (T::Timestamp(_), T::Time(p)) => {
            let p = *p;
            run!(Stamp, TimeOut, |t, zone| time_of(t, p))
        }
        (T::TimestampLtz(_), T::Time(p)) => {
            let p = *p;
            run!(Stamp, TimeOut, |t, zone| time_of(zone.to_local(t), p))
        }
        (T::Timestamp(_), T::Timestamp(_)) | (T::TimestampLtz(_), T::TimestampLtz(_)) => {
            run!(Stamp, Timestamp, |t, zone| t)
        }
        (T::Timestamp(_), T::TimestampLtz(_)) => {
            run!(Stamp, Timestamp, |t, zone| zone.to_instant(t))
        }
        (T::TimestampLtz(_), T::Timestamp(_)) => {
            run!(Stamp, Timestamp, |t, zone| zone.to_local(t))
        }
        _ => None,
    }
}

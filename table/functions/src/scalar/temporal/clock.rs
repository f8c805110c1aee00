//! The clock functions: all read the epoch's announced time, so that a replay gives the same.

use aquifer_types::temporal::{MILLIS_PER_DAY, TimeZone};
use aquifer_types::{DataTypes, Timestamp};

use crate::definition::{BuiltIn, Implementation, Inference, Nulls, Volatility};
use crate::kernel::rows::{DateOut, TimeOut, for_rows};
use crate::signature::Inferred;

/// Local milliseconds of the epoch's time.
fn local_millis(epoch_time_ms: i64, zone: TimeZone) -> i64 {
    zone.to_local(Timestamp::from_millis(epoch_time_ms))
        .to_millis()
}

macro_rules! clock {
    ($constant:ident, $name:literal, $type:expr, $doc:literal, |$now:ident, $zone:ident| $value:expr) => {
        pub(super) const $constant: BuiltIn = BuiltIn::with(
            $name,
            $doc,
            Inference::Custom(&[concat!($name, "()")], |arguments| {
                arguments.is_empty().then(|| Inferred {
                    arguments: vec![],
                    result: $type,
                })
            }),
            Implementation::Kernel(|args| {
                let result = args.result.clone();
                Ok(Box::new(move |_, context| {
                    let ($now, $zone) = (context.eval.epoch_time_ms, context.eval.time_zone);
                    let _ = $zone;
                    for_rows(&[], context.rows, &result, |_| Ok(Some($value)))
                }))
            }),
        )
        .nulls(Nulls::Never)
        .volatility(Volatility::Epoch)
        .infallible();
    };
}

clock!(
    CURRENT_TIMESTAMP,
    "CURRENT_TIMESTAMP",
    DataTypes::timestamp_ltz(3),
    "The current instant.",
    |now, zone| Timestamp::from_millis(now)
);
clock!(
    NOW,
    "NOW",
    DataTypes::timestamp_ltz(3),
    "The current instant.",
    |now, zone| Timestamp::from_millis(now)
);
clock!(
    CURRENT_ROW_TIMESTAMP,
    "CURRENT_ROW_TIMESTAMP",
    DataTypes::timestamp_ltz(3),
    "The current instant.",
    |now, zone| Timestamp::from_millis(now)
);
clock!(
    PROCTIME,
    "PROCTIME",
    DataTypes::timestamp_ltz(3),
    "The processing time: the instant of the row's epoch.",
    |now, zone| Timestamp::from_millis(now)
);
clock!(
    LOCALTIMESTAMP,
    "LOCALTIMESTAMP",
    DataTypes::timestamp(3),
    "The current date and time in the session's time zone.",
    |now, zone| Timestamp::from_millis(local_millis(now, zone))
);
clock!(
    CURRENT_DATE,
    "CURRENT_DATE",
    DataTypes::date(),
    "The current date in the session's time zone.",
    |now, zone| DateOut(local_millis(now, zone).div_euclid(MILLIS_PER_DAY) as i32)
);
clock!(
    CURRENT_TIME,
    "CURRENT_TIME",
    DataTypes::time(0),
    "The current time of day in the session's time zone.",
    |now, zone| TimeOut(local_millis(now, zone).rem_euclid(MILLIS_PER_DAY) as i32 / 1000 * 1000)
);
clock!(
    LOCALTIME,
    "LOCALTIME",
    DataTypes::time(0),
    "The current time of day in the session's time zone.",
    |now, zone| TimeOut(local_millis(now, zone).rem_euclid(MILLIS_PER_DAY) as i32 / 1000 * 1000)
);

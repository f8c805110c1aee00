//! `FROM_UNIXTIME` and `UNIX_TIMESTAMP`: seconds since 1970 UTC and text in the session's zone.

use std::sync::Arc;

use aquifer_types::Timestamp;
use aquifer_types::temporal::parse_timestamp;
use arrow_array::Int64Array;

use super::pattern::Cache;
use crate::column::Column;
use crate::definition::{BuiltIn, Nulls, Volatility};
use crate::kernel::rows::{I64, Text, map1, map2, text1, text2};
use crate::signature::{Kind, Returns, Signature};

const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

pub(super) const FROM_UNIXTIME: BuiltIn = BuiltIn::new(
    "FROM_UNIXTIME",
    "Seconds since 1970 as text in the session's time zone, by a Java date pattern.",
    &[
        Signature::new(&[Kind::BigInt], Returns::String),
        Signature::new(&[Kind::BigInt, Kind::Text], Returns::String),
    ],
    |args| {
        let has_pattern = args.types.len() == 2;
        Ok(Box::new(move |columns, context| {
            let zone = context.eval.time_zone;
            let cache = Cache::default();
            let write = move |seconds: i64, pattern: &str, out: &mut String| {
                let instant = Timestamp::from_micros(seconds.saturating_mul(1_000_000));
                cache.with(pattern, |pattern| {
                    pattern.write(zone.to_local(instant), out);
                })?;
                Ok(true)
            };
            if has_pattern {
                text2::<I64, Text>(write)(columns, context)
            } else {
                let one = text1::<I64>(move |seconds, out| write(seconds, DEFAULT_PATTERN, out));
                one(columns, context)
            }
        }))
    },
)
// The session's time zone is known at run time.
.volatility(Volatility::Epoch);

pub(super) const UNIX_TIMESTAMP: BuiltIn = BuiltIn::new(
    "UNIX_TIMESTAMP",
    "The seconds since 1970 of now, or of a text in the session's time zone.",
    &[
        Signature::new(&[], Returns::BigInt),
        Signature::new(&[Kind::Text], Returns::BigInt),
        Signature::new(&[Kind::Text, Kind::Text], Returns::BigInt),
    ],
    |args| {
        let (count, result) = (args.types.len(), args.result.clone());
        Ok(Box::new(move |columns, context| {
            let zone = context.eval.time_zone;
            let seconds = move |local: Option<Timestamp>| {
                // A text that is none counts as the least number, as in Flink.
                local.map_or(i64::MIN, |l| {
                    zone.to_instant(l).to_micros().div_euclid(1_000_000)
                })
            };
            match count {
                0 => {
                    let now = context.eval.epoch_time_ms.div_euclid(1000);
                    Ok(Column::Array(Arc::new(Int64Array::from_value(
                        now,
                        context.rows,
                    ))))
                }
                1 => map1::<Text, i64>(&result, move |text| {
                    Ok(Some(seconds(parse_timestamp(text))))
                })(columns, context),
                _ => {
                    let cache = Cache::default();
                    map2::<Text, Text, i64>(&result, move |text, pattern| {
                        Ok(Some(seconds(
                            cache.with(pattern, |pattern| pattern.read(text))?,
                        )))
                    })(columns, context)
                }
            }
        }))
    },
)
.nulls(Nulls::Propagate)
.volatility(Volatility::Epoch);

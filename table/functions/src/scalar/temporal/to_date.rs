//! `TO_DATE`.

use aquifer_types::temporal::{MICROS_PER_DAY, parse_date};

use super::pattern::Cache;
use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{DateOut, Text, map1, map2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const TO_DATE: BuiltIn = BuiltIn::new(
    "TO_DATE",
    "A text as a date, by a Java date pattern if one is given; NULL if it is none.",
    &[
        Signature::new(&[Kind::Text], Returns::Date),
        Signature::new(&[Kind::Text, Kind::Text], Returns::Date),
    ],
    |args| {
        if args.types.len() == 1 {
            return Ok(map1::<Text, DateOut>(args.result, |text| {
                Ok(parse_date(text).map(DateOut))
            }));
        }
        let cache = Cache::default();
        Ok(map2::<Text, Text, DateOut>(
            args.result,
            move |text, pattern| {
                let point = cache.with(pattern, |pattern| pattern.read(text))?;
                Ok(point.map(|p| DateOut(p.to_micros().div_euclid(MICROS_PER_DAY) as i32)))
            },
        ))
    },
)
.nulls(Nulls::Always);

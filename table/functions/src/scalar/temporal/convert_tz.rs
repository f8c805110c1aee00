//! `CONVERT_TZ`.

use aquifer_types::temporal::{TimeZone, format_timestamp, parse_timestamp};

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Text, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const CONVERT_TZ: BuiltIn = BuiltIn::new(
    "CONVERT_TZ",
    "The text of a date and time in one time zone as it is in another; NULL if it is none.",
    &[Signature::new(
        &[Kind::Text, Kind::Text, Kind::Text],
        Returns::String,
    )],
    |_| {
        Ok(text3::<Text, Text, Text>(|text, from, to, out| {
            let (Ok(from), Ok(to)) = (from.parse::<TimeZone>(), to.parse::<TimeZone>()) else {
                return Ok(false);
            };
            let Some(local) = parse_timestamp(text) else {
                return Ok(false);
            };
            out.push_str(&format_timestamp(
                to.to_local(from.to_instant(local)).truncate(0),
                0,
            ));
            Ok(true)
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

//! Time zones: the session's zone, in which TIMESTAMP_LTZ is shown and read.
//!
//! A name is an IANA zone (`Asia/Shanghai`), `UTC`, `Z` or an offset (`+08:00`, `GMT-08:00`,
//! `UTC+2`), as Java's `ZoneId.of` takes it.

use std::fmt;
use std::str::FromStr;

use chrono::{Offset as _, TimeZone as _};
use chrono_tz::Tz;

use super::Timestamp;
use crate::error::{Result, TypesError};

/// A time zone; UTC by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeZone {
    /// A fixed number of seconds east of UTC.
    Fixed(i32),
    /// A zone with daylight saving rules.
    Named(Tz),
}

impl Default for TimeZone {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

const MICROS: i64 = 1_000_000;

impl TimeZone {
    /// Returns the seconds east of UTC at an instant (in seconds since the epoch).
    #[must_use]
    pub fn offset_at(self, seconds: i64) -> i32 {
        match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => chrono::DateTime::from_timestamp(seconds, 0).map_or(0, |t| {
                zone.offset_from_utc_datetime(&t.naive_utc())
                    .fix()
                    .local_minus_utc()
            }),
        }
    }

    /// Returns the local date and time of an instant, both in microseconds since the epoch.
    #[must_use]
    pub fn to_local_micros(self, instant: i64) -> i64 {
        instant.saturating_add(i64::from(self.offset_at(instant.div_euclid(MICROS))) * MICROS)
    }

    /// Returns the instant of a local date and time, both in microseconds since the epoch.
    ///
    /// A local time that occurs twice means the earlier instant; one that a change of clocks
    /// leaves out is moved on by the length of the gap, as Java does.
    #[must_use]
    pub fn to_instant_micros(self, local: i64) -> i64 {
        let offset = match self {
            Self::Fixed(offset) => offset,
            Self::Named(_) => {
                let seconds = local.div_euclid(MICROS);
                // The offsets a day before and after frame any change of clocks.
                let before = self.offset_at(seconds - 86_400);
                let after = self.offset_at(seconds + 86_400);
                if self.offset_at(seconds - i64::from(before)) == before {
                    before
                } else if self.offset_at(seconds - i64::from(after)) == after {
                    after
                } else {
                    before
                }
            }
        };
        local.saturating_sub(i64::from(offset) * MICROS)
    }

    /// Returns the local date and time of an instant.
    #[must_use]
    pub fn to_local(self, instant: Timestamp) -> Timestamp {
        Timestamp::from_parts(
            self.to_local_micros(instant.to_micros()),
            instant.sub_micro_nanos(),
        )
    }

    /// Returns the instant of a local date and time.
    #[must_use]
    pub fn to_instant(self, local: Timestamp) -> Timestamp {
        Timestamp::from_parts(
            self.to_instant_micros(local.to_micros()),
            local.sub_micro_nanos(),
        )
    }

    /// Returns whether the zone is UTC, so that instants and local times are the same numbers.
    #[must_use]
    pub fn is_utc(self) -> bool {
        matches!(self, Self::Fixed(0) | Self::Named(Tz::UTC))
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(0) => f.write_str("UTC"),
            Self::Fixed(seconds) => {
                let sign = if *seconds < 0 { '-' } else { '+' };
                let seconds = seconds.unsigned_abs();
                write!(f, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
                if seconds % 60 != 0 {
                    write!(f, ":{:02}", seconds % 60)?;
                }
                Ok(())
            }
            Self::Named(zone) => f.write_str(zone.name()),
        }
    }
}

impl FromStr for TimeZone {
    type Err = TypesError;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if matches!(text, "UTC" | "Z" | "GMT" | "UT") {
            return Ok(Self::default());
        }
        let offset = ["UTC", "GMT", "UT", ""]
            .iter()
            .filter_map(|prefix| text.strip_prefix(prefix))
            .find_map(parse_offset);
        if let Some(seconds) = offset {
            return Ok(Self::Fixed(seconds));
        }
        text.parse::<Tz>()
            .map(Self::Named)
            .map_err(|_| TypesError::ParseValue {
                text: text.to_owned(),
                type_name: "a time zone such as 'Europe/Berlin' or '+02:00'".to_owned(),
            })
    }
}

/// Reads `+h`, `+hh`, `+hh:mm` or `+hh:mm:ss`.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let mut seconds = 0;
    for (i, part) in rest.split(':').enumerate() {
        if part.is_empty() || part.len() > 2 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number: i32 = part.parse().ok()?;
        let (unit, max) = *[(3600, 18), (60, 59), (1, 59)].get(i)?;
        if number > max {
            return None;
        }
        seconds += number * unit;
    }
    Some(sign * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_offsets() {
        for (text, printed) in [
            ("UTC", "UTC"),
            ("GMT-08:00", "-08:00"),
            ("+2", "+02:00"),
            ("Asia/Shanghai", "Asia/Shanghai"),
        ] {
            assert_eq!(text.parse::<TimeZone>().unwrap().to_string(), printed);
        }
        for bad in ["", "+25", "Mars/Base", "GMT+1:60", "+1:2:3:4"] {
            assert!(bad.parse::<TimeZone>().is_err(), "{bad}");
        }
    }

    #[test]
    fn gaps_and_overlaps() {
        let zone: TimeZone = "America/Los_Angeles".parse().unwrap();
        let check = |local: &str, instant: &str, back: &str| {
            let at = zone.to_instant(local.parse().unwrap());
            assert_eq!(at, instant.parse().unwrap(), "{local}");
            assert_eq!(zone.to_local(at), back.parse().unwrap(), "{local}");
        };
        check(
            "2021-03-14 01:59:59",
            "2021-03-14 09:59:59",
            "2021-03-14 01:59:59",
        );
        check(
            "2021-03-14 02:30:00",
            "2021-03-14 10:30:00",
            "2021-03-14 03:30:00",
        );
        check(
            "2021-11-07 01:30:00",
            "2021-11-07 08:30:00",
            "2021-11-07 01:30:00",
        );
        check(
            "2021-11-07 02:00:00",
            "2021-11-07 10:00:00",
            "2021-11-07 02:00:00",
        );
    }
}

//! A point on a calendar's time line with nanosecond resolution and a wide range.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{format_timestamp, parse_timestamp};
use crate::error::{Result, TypesError};

/// Microseconds since 1970-01-01 00:00:00, and nanoseconds within the microsecond.
///
/// Used for TIMESTAMP (a local date and time) and TIMESTAMP_LTZ (an instant) alike.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Timestamp {
    micros: i64,
    nanos: u16,
}

impl Timestamp {
    /// From milliseconds since the epoch; saturates at the ends of the range.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self {
            micros: millis.saturating_mul(1000),
            nanos: 0,
        }
    }

    /// From microseconds since the epoch.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self { micros, nanos: 0 }
    }

    /// From nanoseconds since the epoch.
    #[must_use]
    pub fn from_nanos(nanos: i64) -> Self {
        Self::from_parts(nanos.div_euclid(1000), nanos.rem_euclid(1000) as u16)
    }

    /// From microseconds and nanoseconds (0-999) within the microsecond.
    #[must_use]
    pub fn from_parts(micros: i64, nanos: u16) -> Self {
        Self {
            micros,
            nanos: nanos.min(999),
        }
    }

    /// Milliseconds since the epoch, rounded down.
    #[must_use]
    pub fn to_millis(self) -> i64 {
        self.micros.div_euclid(1000)
    }

    /// Microseconds since the epoch, rounded down.
    #[must_use]
    pub fn to_micros(self) -> i64 {
        self.micros
    }

    /// Nanoseconds within the microsecond.
    #[must_use]
    pub fn sub_micro_nanos(self) -> u16 {
        self.nanos
    }

    /// Nanoseconds since the epoch.
    ///
    /// # Errors
    /// `types.out_of_range` outside of the years 1677 to 2262.
    pub fn to_nanos(self) -> Result<i64> {
        self.micros
            .checked_mul(1000)
            .and_then(|n| n.checked_add(self.nanos.into()))
            .ok_or_else(|| TypesError::OutOfRange {
                value: self.to_string(),
                type_name: "TIMESTAMP(9)".to_owned(),
            })
    }

    /// Cuts the fraction of the second to a number of digits.
    #[must_use]
    pub fn truncate(self, precision: u8) -> Self {
        if precision >= 9 {
            return self;
        }
        if precision >= 6 {
            let unit = 10_u16.pow(9 - u32::from(precision));
            return Self {
                micros: self.micros,
                nanos: self.nanos / unit * unit,
            };
        }
        let unit = 10_i64.pow(6 - u32::from(precision));
        Self {
            micros: self.micros.div_euclid(unit) * unit,
            nanos: 0,
        }
    }
}

impl fmt::Display for Timestamp {
    /// As Flink's rows print a local date time: `2020-01-31T10:20:45.123`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Java's LocalDateTime groups the fraction by three digits.
        let precision = match self.micros.rem_euclid(1_000_000) {
            _ if self.nanos != 0 => 9,
            0 => 0,
            us if us % 1000 == 0 => 3,
            _ => 6,
        };
        f.write_str(&format_timestamp(*self, precision).replacen(' ', "T", 1))
    }
}

impl std::str::FromStr for Timestamp {
    type Err = TypesError;

    fn from_str(text: &str) -> Result<Self> {
        parse_timestamp(text).ok_or_else(|| TypesError::ParseValue {
            text: text.to_owned(),
            type_name: "TIMESTAMP".to_owned(),
        })
    }
}

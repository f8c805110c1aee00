//! Units of time.

use crate::error::{FunctionError, Result};

/// A unit that a point in time has a field of, or can be cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Millennium,
    Century,
    Decade,
    Year,
    IsoYear,
    Quarter,
    Month,
    Week,
    DayOfYear,
    DayOfWeek,
    IsoDayOfWeek,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Epoch,
}

impl Unit {
    /// Returns the unit of a word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let word = word.to_ascii_uppercase();
        // `SQL_TSI_DAY` and `DAYS` are other spellings of `DAY`.
        let word = word.strip_prefix("SQL_TSI_").unwrap_or(&word);
        let singular = word.strip_suffix('S').unwrap_or(word);
        Some(match (word, singular) {
            ("MILLENNIUM", _) => Self::Millennium,
            ("CENTURY", _) => Self::Century,
            (_, "DECADE") => Self::Decade,
            (_, "YEAR") => Self::Year,
            ("ISOYEAR", _) => Self::IsoYear,
            (_, "QUARTER") => Self::Quarter,
            (_, "MONTH") => Self::Month,
            (_, "WEEK") => Self::Week,
            ("DOY" | "DAYOFYEAR", _) => Self::DayOfYear,
            ("DOW" | "DAYOFWEEK", _) => Self::DayOfWeek,
            ("ISODOW", _) => Self::IsoDayOfWeek,
            (_, "DAY") | ("DAYOFMONTH", _) => Self::Day,
            (_, "HOUR") => Self::Hour,
            (_, "MINUTE") => Self::Minute,
            (_, "SECOND") => Self::Second,
            (_, "MILLISECOND") => Self::Millisecond,
            (_, "MICROSECOND") => Self::Microsecond,
            (_, "NANOSECOND") => Self::Nanosecond,
            ("EPOCH", _) => Self::Epoch,
            _ => return None,
        })
    }

    /// Returns the unit that a literal argument names.
    pub(crate) fn of_literal(text: Option<&str>, function: &str, position: usize) -> Result<Self> {
        text.and_then(Self::of)
            .ok_or_else(|| FunctionError::InvalidLiteral {
                function: function.to_owned(),
                position,
                message: format!(
                    "must be a unit of time, but is {}",
                    text.unwrap_or("no word")
                ),
            })
    }

    /// Returns the unit's length in microseconds, if it is fixed and within a day.
    pub(crate) fn micros(self) -> Option<i64> {
        Some(match self {
            Self::Hour => 3_600_000_000,
            Self::Minute => 60_000_000,
            Self::Second => 1_000_000,
            Self::Millisecond => 1000,
            Self::Microsecond => 1,
            _ => return None,
        })
    }

    /// Returns the unit's length in months, if it has one.
    pub(crate) fn months(self) -> Option<i64> {
        Some(match self {
            Self::Millennium => 12_000,
            Self::Century => 1200,
            Self::Decade => 120,
            Self::Year => 12,
            Self::Quarter => 3,
            Self::Month => 1,
            _ => return None,
        })
    }
}

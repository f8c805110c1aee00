//! Calendar arithmetic and the text forms of dates, times and timestamps.
//!
//! Proleptic Gregorian calendar, days counted from 1970-01-01. Text forms are those of Flink's
//! `CAST`: `2020-01-31`, `10:20:45[.fff]`, `2020-01-31 10:20:45[.fff]`.

mod calendar;
mod text;
mod time_zone;
mod timestamp;

pub use calendar::{civil_from_days, days_from_civil, days_in_month, is_leap_year, iso_week};
pub use text::{
    format_date, format_interval_day_time, format_interval_year_month, format_time,
    format_timestamp, parse_date, parse_time, parse_timestamp,
};
pub use time_zone::TimeZone;
pub use timestamp::Timestamp;

/// Milliseconds of a day.
pub const MILLIS_PER_DAY: i64 = 86_400_000;
/// Microseconds of a day.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

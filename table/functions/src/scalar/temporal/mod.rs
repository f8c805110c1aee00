//! Functions on dates, times, timestamps and intervals.

use crate::definition::BuiltIn;

mod clock;
mod convert_tz;
mod date_format;
mod extract;
mod pattern;
pub(super) mod round_to_unit;
mod timestamp_add;
mod timestamp_diff;
mod to_date;
mod to_timestamp;
mod unit;
mod unix_time;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    convert_tz::CONVERT_TZ,
    clock::CURRENT_DATE,
    clock::CURRENT_ROW_TIMESTAMP,
    clock::CURRENT_TIME,
    clock::CURRENT_TIMESTAMP,
    date_format::DATE_FORMAT,
    extract::DAYOFMONTH,
    extract::DAYOFWEEK,
    extract::DAYOFYEAR,
    extract::EXTRACT,
    unix_time::FROM_UNIXTIME,
    extract::HOUR,
    clock::LOCALTIME,
    clock::LOCALTIMESTAMP,
    extract::MINUTE,
    extract::MONTH,
    clock::NOW,
    clock::PROCTIME,
    extract::QUARTER,
    extract::SECOND,
    timestamp_add::TIMESTAMPADD,
    timestamp_diff::TIMESTAMPDIFF,
    to_date::TO_DATE,
    to_timestamp::TO_TIMESTAMP,
    to_timestamp::TO_TIMESTAMP_LTZ,
    unix_time::UNIX_TIMESTAMP,
    extract::WEEK,
    extract::YEAR,
];

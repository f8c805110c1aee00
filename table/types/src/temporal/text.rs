//! Text of dates, times, timestamps and intervals, as Flink's `CAST` reads and writes it.
//!
//! Reading is lenient where Flink is: one-digit months and days, a missing time of day,
//! a `T` between date and time, a missing second.

use std::fmt::Write as _;

use super::{MICROS_PER_DAY, Timestamp, civil_from_days, days_from_civil, days_in_month};

fn push_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if (0..=9999).contains(&year) {
        let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    } else if year < 0 {
        let _ = write!(out, "-{:04}-{month:02}-{day:02}", -year);
    } else {
        let _ = write!(out, "{year}-{month:02}-{day:02}");
    }
}

/// `2020-01-31`.
#[must_use]
pub fn format_date(days: i32) -> String {
    let mut out = String::with_capacity(10);
    push_date(&mut out, days.into());
    out
}

/// Appends the fraction of a second with at least `precision` and at most nine digits.
fn push_fraction(out: &mut String, nanos: u32, precision: u8) {
    let mut digits = 9;
    let mut rest = nanos;
    while digits > usize::from(precision) && rest.is_multiple_of(10) {
        rest /= 10;
        digits -= 1;
    }
    if digits > 0 {
        let _ = write!(out, ".{rest:0digits$}");
    }
}

/// `10:20:45.123` from milliseconds of the day, the fraction cut to `precision` digits.
#[must_use]
pub fn format_time(millis: i32, precision: u8) -> String {
    let mut out = String::with_capacity(12);
    let seconds = millis / 1000;
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    if precision > 0 {
        let text = format!("{:03}", millis % 1000);
        let kept = text.get(..usize::from(precision).min(3)).unwrap_or(&text);
        out.push('.');
        out.push_str(kept);
    }
    out
}

/// `2020-01-31 10:20:45.123`, with at least `precision` digits of fraction.
#[must_use]
pub fn format_timestamp(timestamp: Timestamp, precision: u8) -> String {
    let mut out = String::with_capacity(29);
    let micros = timestamp.to_micros();
    push_date(&mut out, micros.div_euclid(MICROS_PER_DAY));
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let seconds = of_day / 1_000_000;
    let _ = write!(
        out,
        " {:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let nanos = (of_day % 1_000_000) as u32 * 1000 + u32::from(timestamp.sub_micro_nanos());
    push_fraction(&mut out, nanos, precision);
    out
}

/// `+1-02` from a number of months.
#[must_use]
pub fn format_interval_year_month(months: i32) -> String {
    let sign = if months < 0 { '-' } else { '+' };
    let months = months.unsigned_abs();
    format!("{sign}{}-{:02}", months / 12, months % 12)
}

/// `+1 02:03:04.005` from a number of milliseconds.
#[must_use]
pub fn format_interval_day_time(millis: i64) -> String {
    let sign = if millis < 0 { '-' } else { '+' };
    let millis = millis.unsigned_abs();
    let seconds = millis / 1000;
    format!(
        "{sign}{} {:02}:{:02}:{:02}.{:03}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        millis % 1000
    )
}

/// Reads `digits` from the front; at least one and at most `max` of them.
fn take_number(text: &str, max: usize) -> Option<(u32, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 || end > max {
        return None;
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn take_date(text: &str) -> Option<(i64, &str)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (year, rest) = take_number(text, 6)?;
    let year = if negative {
        -i64::from(year)
    } else {
        i64::from(year)
    };
    let Some(rest) = rest.strip_prefix('-') else {
        return Some((days_from_civil(year, 1, 1), rest));
    };
    let (month, rest) = take_number(rest, 2)?;
    if !(1..=12).contains(&month) {
        return None;
    }
    let Some(rest) = rest.strip_prefix('-') else {
        return Some((days_from_civil(year, month, 1), rest));
    };
    let (day, rest) = take_number(rest, 2)?;
    (1..=days_in_month(year, month))
        .contains(&day)
        .then(|| (days_from_civil(year, month, day), rest))
}

/// Reads a date; `None` if the text is no date. What follows a blank or `T` is ignored.
#[must_use]
pub fn parse_date(text: &str) -> Option<i32> {
    let (days, rest) = take_date(text.trim())?;
    if !rest.is_empty() && !rest.starts_with([' ', 'T']) {
        return None;
    }
    i32::try_from(days).ok()
}

/// Reads a time of day in nanoseconds from the front of a text.
fn take_time(text: &str) -> Option<(i64, &str)> {
    let (hour, mut rest) = take_number(text, 2)?;
    let (mut minute, mut second, mut nanos) = (0, 0, 0_i64);
    if let Some(r) = rest.strip_prefix(':') {
        (minute, rest) = take_number(r, 2)?;
        if let Some(r) = rest.strip_prefix(':') {
            (second, rest) = take_number(r, 2)?;
            if let Some(r) = rest.strip_prefix('.') {
                let end = r.bytes().take_while(u8::is_ascii_digit).count();
                for (i, digit) in r.bytes().take(end.min(9)).enumerate() {
                    nanos += i64::from(digit - b'0') * 10_i64.pow(8 - i as u32);
                }
                rest = &r[end..];
            }
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some((
        i64::from(hour * 3600 + minute * 60 + second) * 1_000_000_000 + nanos,
        rest,
    ))
}

/// Reads a time of day in milliseconds; `None` if the text is no time.
#[must_use]
pub fn parse_time(text: &str) -> Option<i32> {
    let (nanos, rest) = take_time(text.trim())?;
    if !rest.is_empty() {
        return None;
    }
    i32::try_from(nanos / 1_000_000).ok()
}

/// Reads a date with an optional time of day, an optional zone offset `Z` being ignored.
///
/// Returns `None` if the text is no timestamp.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (days, rest) = take_date(text)?;
    let nanos = match rest.strip_prefix([' ', 'T']) {
        None if rest.is_empty() => 0,
        None => return None,
        Some(time) => match take_time(time.trim_start())? {
            (nanos, "") => nanos,
            _ => return None,
        },
    };
    let micros = days
        .checked_mul(MICROS_PER_DAY)?
        .checked_add(nanos / 1000)?;
    Some(Timestamp::from_parts(micros, (nanos % 1000) as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let check = |text: &str, precision: u8, printed: &str| {
            assert_eq!(
                format_timestamp(parse_timestamp(text).unwrap(), precision),
                printed
            );
        };
        check("2020-1-3", 0, "2020-01-03 00:00:00");
        check("2020-01-31T10:20", 3, "2020-01-31 10:20:00.000");
        check(
            "1969-12-31 23:59:59.999999999",
            9,
            "1969-12-31 23:59:59.999999999",
        );
        check("0001-01-01 00:00:00.1234", 0, "0001-01-01 00:00:00.1234");
        for bad in [
            "",
            "x",
            "2020-13-01",
            "2021-02-29",
            "2020-01-01 25:00:00",
            "2020-01-01x",
        ] {
            assert_eq!(parse_timestamp(bad), None, "{bad}");
        }
        assert_eq!(
            Timestamp::from_millis(-1).to_string(),
            "1969-12-31T23:59:59.999"
        );
    }

    #[test]
    fn times_and_intervals() {
        assert_eq!(parse_time("10:20:45.1239"), Some(37_245_123));
        assert_eq!(format_time(37_245_123, 2), "10:20:45.12");
        assert_eq!(format_time(37_245_123, 0), "10:20:45");
        assert_eq!(parse_time("24:00:00"), None);
        assert_eq!(format_interval_year_month(-14), "-1-02");
        assert_eq!(format_interval_day_time(93_784_005), "+1 02:03:04.005");
        assert_eq!(format_date(-719_529), "-0001-12-31");
    }
}

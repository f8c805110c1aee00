//! Bytes to numbers, dates and times: what a cell of a text format can say.
//!
//! Stricter than `CAST`: a date has year, month and day, a time hour and minute, and nothing may
//! follow. Fractions of seconds beyond nine digits are cut. All functions answer nothing for what
//! is no value.

use aquifer_types::Decimal;
use aquifer_types::temporal::{MICROS_PER_DAY, Timestamp, days_from_civil, days_in_month};

/// What may stand at the begin of a file of UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a whole number with an optional sign.
#[inline]
pub(crate) fn parse_i64(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    if digits.len() > 18 {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    let mut value = 0_i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Reads a floating point number, `NaN` or `Infinity`.
pub(crate) fn parse_f64(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// As [`parse_f64`], rounded once.
pub(crate) fn parse_f32(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Reads `true` or `false` in any case.
pub(crate) fn parse_bool(text: &[u8]) -> Option<bool> {
    if text.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if text.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// Reads a decimal number as the unscaled number of `DECIMAL(precision, scale)`, rounded half up.
pub(crate) fn parse_decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let number = match short_decimal(text) {
        Some(number) => number,
        None => std::str::from_utf8(text).ok()?.parse().ok()?,
    };
    number.fit(precision, scale).map(Decimal::unscaled)
}

/// A number of at most 18 digits without an exponent, which is nearly every one.
fn short_decimal(text: &[u8]) -> Option<Decimal> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.len() > 19 {
        return None;
    }
    let (mut value, mut count, mut point) = (0_i64, 0_usize, None);
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                count += 1;
            }
            b'.' if point.is_none() => point = Some(count),
            _ => return None,
        }
    }
    if count == 0 {
        return None;
    }
    let scale = count - point.unwrap_or(count);
    let value = if negative { -value } else { value };
    Some(Decimal::new(value.into(), scale as u8))
}

/// Reads `2020-01-31` as days since 1970-01-01.
pub(crate) fn parse_date(text: &[u8]) -> Option<i32> {
    match take_date(text)? {
        (days, []) => i32::try_from(days).ok(),
        _ => None,
    }
}

/// Reads `10:20[:30[.123]]` as milliseconds of the day.
pub(crate) fn parse_time(text: &[u8]) -> Option<i32> {
    match take_time(text)? {
        (nanos, []) => i32::try_from(nanos / 1_000_000).ok(),
        _ => None,
    }
}

/// Reads a date with an optional time of day behind a blank or `T`; a `Z` at the end says nothing.
pub(crate) fn parse_timestamp(text: &[u8]) -> Option<Timestamp> {
    let (days, nanos, rest) = take_date_time(text)?;
    match rest {
        [] | [b'Z' | b'z'] => timestamp(days, nanos, 0),
        _ => None,
    }
}

/// As [`parse_timestamp`], with an optional zone: `Z` or `+01:30`; UTC without one.
pub(crate) fn parse_timestamp_ltz(text: &[u8]) -> Option<Timestamp> {
    let (days, nanos, rest) = take_date_time(text)?;
    timestamp(days, nanos, zone_seconds(rest.trim_ascii_start())?)
}

fn timestamp(days: i64, nanos: i64, zone_seconds: i64) -> Option<Timestamp> {
    let micros = days
        .checked_mul(MICROS_PER_DAY)?
        .checked_add(nanos / 1000)?
        .checked_sub(zone_seconds * 1_000_000)?;
    Some(Timestamp::from_parts(micros, (nanos % 1000) as u16))
}

fn zone_seconds(zone: &[u8]) -> Option<i64> {
    let (sign, rest) = match zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = take_number(rest, 2, 2)?;
    let minutes = match rest {
        [] => 0,
        [b':', rest @ ..] | rest => match take_number(rest, 2, 2)? {
            (minutes, []) => minutes,
            _ => return None,
        },
    };
    (hours <= 18 && minutes <= 59).then(|| sign * i64::from(hours * 3600 + minutes * 60))
}

/// Reads the date and time of day at the front: days, nanoseconds, rest.
fn take_date_time(text: &[u8]) -> Option<(i64, i64, &[u8])> {
    let (days, rest) = take_date(text)?;
    match rest {
        [b' ' | b'T' | b't', time @ ..] => {
            let (nanos, rest) = take_time(time)?;
            Some((days, nanos, rest))
        }
        rest => Some((days, 0, rest)),
    }
}

fn take_date(text: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, text) = match text {
        [b'-', rest @ ..] => (-1, rest),
        _ => (1, text),
    };
    let (year, rest) = take_number(text, 4, 6)?;
    let year = sign * i64::from(year);
    let (month, rest) = take_number(rest.strip_prefix(b"-")?, 1, 2)?;
    let (day, rest) = take_number(rest.strip_prefix(b"-")?, 1, 2)?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    Some((days_from_civil(year, month, day), rest))
}

fn take_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, rest) = take_number(text, 1, 2)?;
    let (minute, mut rest) = take_number(rest.strip_prefix(b":")?, 1, 2)?;
    let (mut second, mut nanos) = (0, 0_i64);
    if let Some(seconds) = rest.strip_prefix(b":") {
        (second, rest) = take_number(seconds, 1, 2)?;
        if let Some(fraction) = rest.strip_prefix(b".") {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            let mut unit = 100_000_000;
            for digit in &fraction[..digits.min(9)] {
                nanos += i64::from(digit - b'0') * unit;
                unit /= 10;
            }
            rest = &fraction[digits..];
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = i64::from(hour * 3600 + minute * 60 + second);
    Some((seconds * 1_000_000_000 + nanos, rest))
}

/// Reads a number of at least `min` digits at the front, and not more than `max` of them.
fn take_number(text: &[u8], min: usize, max: usize) -> Option<(u32, &[u8])> {
    let digits = text
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count()
        .min(max);
    if digits < min {
        return None;
    }
    let number = text[..digits]
        .iter()
        .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    Some((number, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        for number in [0, 7, -7, i64::MIN, i64::MAX, 999_999_999_999_999_999] {
            assert_eq!(parse_i64(number.to_string().as_bytes()), Some(number));
        }
        assert_eq!(parse_i64(b"+5"), Some(5));
        for bad in [
            "",
            "-",
            "+-1",
            "1.0",
            "1 ",
            "9223372036854775808",
            "0x1",
            "٣",
        ] {
            assert_eq!(parse_i64(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn decimals_are_exact_and_round_half_up() {
        let check = |text: &str, unscaled| {
            assert_eq!(parse_decimal(text.as_bytes(), 10, 2), unscaled, "{text}");
        };
        check("1", Some(100));
        check("-1.005", Some(-101));
        check(".5", Some(50));
        check("5.", Some(500));
        check("1e3", Some(100_000));
        check("0.12345678901234567890123", Some(12));
        check("99999999.995", None);
        check("123456789", None);
        for bad in ["", ".", "-", "1.2.3", "abc", "--1"] {
            check(bad, None);
        }
    }

    #[test]
    fn dates_and_times() {
        assert_eq!(parse_date(b"1970-01-02"), Some(1));
        assert_eq!(parse_date(b"1970-1-2"), Some(1));
        for bad in [
            "",
            "1970",
            "1970-01",
            "2021-02-29",
            "1970-13-01",
            "1970-01-01 ",
            "70-01-01",
        ] {
            assert_eq!(parse_date(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(parse_time(b"10:20:45.1239"), Some(37_245_123));
        assert_eq!(parse_time(b"10:20"), Some(37_200_000));
        for bad in ["", "10", "24:00:00", "10:60:00", "10:20:30.", "10:20:30x"] {
            assert_eq!(parse_time(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn timestamps_with_and_without_zone() {
        let at = |micros| Some(Timestamp::from_micros(micros));
        assert_eq!(parse_timestamp(b"1970-01-01 00:00:01.5"), at(1_500_000));
        assert_eq!(parse_timestamp(b"1970-01-01T00:00:01Z"), at(1_000_000));
        assert_eq!(parse_timestamp(b"1970-01-02"), at(86_400_000_000));
        assert_eq!(parse_timestamp(b"1970-01-01 00:00:01+01:00"), None);
        assert_eq!(parse_timestamp_ltz(b"1970-01-01 02:00:00+02:00"), at(0));
        assert_eq!(
            parse_timestamp_ltz(b"1970-01-01T00:00:00-0130"),
            at(5_400_000_000)
        );
        assert_eq!(parse_timestamp_ltz(b"1970-01-01 00:00:00Z"), at(0));
        assert_eq!(parse_timestamp_ltz(b"1970-01-01 00:00:00"), at(0));
        assert_eq!(parse_timestamp_ltz(b"1970-01-01 00:00:00 CET"), None);
        assert_eq!(
            parse_timestamp(b"1969-12-31 23:59:59.123456789"),
            Some(Timestamp::from_parts(-876_544, 789))
        );
    }
}

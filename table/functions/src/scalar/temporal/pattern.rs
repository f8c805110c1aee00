//! Date patterns in Java's dialect (`yyyy-MM-dd HH:mm:ss.SSS`), for writing and reading.
//!
//! Source: `java.time.format.DateTimeFormatter`. A pattern is compiled once into a list of parts;
//! letters that have no part here are refused by name.

use std::fmt::Write as _;

use aquifer_types::Timestamp;
use aquifer_types::temporal::{
    MICROS_PER_DAY, civil_from_days, days_from_civil, days_in_month, iso_week,
};

use crate::error::{FunctionError, Result};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// A number of at least this many digits.
    Number(Field, usize),
    /// A year of two digits, 2000 to 2099.
    ShortYear,
    Fraction(usize),
    MonthName(bool),
    DayName(bool),
    AmPm,
    Era,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Year,
    WeekYear,
    Quarter,
    Month,
    Week,
    DayOfYear,
    Day,
    DayOfWeek,
    Hour,
    HourOfHalf,
    ClockHour,
    ClockHourOfHalf,
    Minute,
    Second,
    Nano,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    pub(super) fn compile(text: &str) -> Result<Self> {
        let mut parts: Vec<Part> = Vec::new();
        let literal = |parts: &mut Vec<Part>, c: char| match parts.last_mut() {
            Some(Part::Literal(text)) => text.push(c),
            _ => parts.push(Part::Literal(c.to_string())),
        };
        let chars: Vec<char> = text.chars().collect();
        let mut i = 0;
        while i < chars.len() {
            let c = chars[i];
            if c == '\'' {
                // Quoted text; two quotes are one.
                i += 1;
                if chars.get(i) == Some(&'\'') {
                    literal(&mut parts, '\'');
                    i += 1;
                    continue;
                }
                loop {
                    match (chars.get(i), chars.get(i + 1)) {
                        (Some('\''), Some('\'')) => {
                            literal(&mut parts, '\'');
                            i += 2;
                        }
                        (Some('\''), _) => break,
                        (Some(c), _) => {
                            literal(&mut parts, *c);
                            i += 1;
                        }
                        (None, _) => {
                            return Err(FunctionError::runtime(format!(
                                "date pattern '{text}' has no closing quote"
                            )));
                        }
                    }
                }
                i += 1;
                continue;
            }
            if !c.is_ascii_alphabetic() {
                literal(&mut parts, c);
                i += 1;
                continue;
            }
            let count = chars[i..].iter().take_while(|d| **d == c).count();
            i += count;
            parts.push(match (c, count) {
                ('y' | 'u', 2) => Part::ShortYear,
                ('y' | 'u', n) => Part::Number(Field::Year, n),
                ('Y', n) => Part::Number(Field::WeekYear, n),
                ('Q' | 'q', n) if n <= 2 => Part::Number(Field::Quarter, n),
                ('M' | 'L', n) if n <= 2 => Part::Number(Field::Month, n),
                ('M' | 'L', 3) => Part::MonthName(true),
                ('M' | 'L', 4) => Part::MonthName(false),
                ('w', n) if n <= 2 => Part::Number(Field::Week, n),
                ('D', n) if n <= 3 => Part::Number(Field::DayOfYear, n),
                ('d', n) if n <= 2 => Part::Number(Field::Day, n),
                ('E', n) if n <= 3 => Part::DayName(true),
                ('E', 4) => Part::DayName(false),
                ('e' | 'c', n) if n <= 2 => Part::Number(Field::DayOfWeek, n),
                ('a', 1) => Part::AmPm,
                ('G', n) if n <= 3 => Part::Era,
                ('H', n) if n <= 2 => Part::Number(Field::Hour, n),
                ('K', n) if n <= 2 => Part::Number(Field::HourOfHalf, n),
                ('k', n) if n <= 2 => Part::Number(Field::ClockHour, n),
                ('h', n) if n <= 2 => Part::Number(Field::ClockHourOfHalf, n),
                ('m', n) if n <= 2 => Part::Number(Field::Minute, n),
                ('s', n) if n <= 2 => Part::Number(Field::Second, n),
                ('S', n) if n <= 9 => Part::Fraction(n),
                ('n', n) => Part::Number(Field::Nano, n),
                _ => {
                    let letters: String = std::iter::repeat_n(c, count).collect();
                    return Err(FunctionError::runtime(format!(
                        "'{letters}' in date pattern '{text}' is not supported"
                    )));
                }
            });
        }
        Ok(Self { parts })
    }

    /// Returns the digits of the second's fraction that the pattern has.
    pub(super) fn fraction_digits(&self) -> usize {
        self.parts
            .iter()
            .map(|part| if let Part::Fraction(n) = part { *n } else { 0 })
            .max()
            .unwrap_or(0)
    }

    /// Appends a local date and time.
    pub(super) fn write(&self, local: Timestamp, out: &mut String) {
        let micros = local.to_micros();
        let days = micros.div_euclid(MICROS_PER_DAY);
        let of_day = micros.rem_euclid(MICROS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let seconds = of_day / 1_000_000;
        let hour = seconds / 3600;
        let nanos = of_day % 1_000_000 * 1000 + i64::from(local.sub_micro_nanos());
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::ShortYear => {
                    let _ = write!(out, "{:02}", year.rem_euclid(100));
                }
                Part::Fraction(digits) => {
                    let _ = write!(out, "{:0digits$}", nanos / 10_i64.pow(9 - *digits as u32));
                }
                Part::MonthName(short) => {
                    let name = MONTHS[month as usize - 1];
                    out.push_str(if *short { &name[..3] } else { name });
                }
                Part::DayName(short) => {
                    let name = DAYS[(days + 3).rem_euclid(7) as usize];
                    out.push_str(if *short { &name[..3] } else { name });
                }
                Part::AmPm => out.push_str(if hour < 12 { "AM" } else { "PM" }),
                Part::Era => out.push_str(if year > 0 { "AD" } else { "BC" }),
                Part::Number(field, width) => {
                    let number = match field {
                        Field::Year => year,
                        Field::WeekYear => iso_week(days).0,
                        Field::Quarter => i64::from(month.div_ceil(3)),
                        Field::Month => month.into(),
                        Field::Week => iso_week(days).1.into(),
                        Field::DayOfYear => days - days_from_civil(year, 1, 1) + 1,
                        Field::Day => day.into(),
                        Field::DayOfWeek => (days + 4).rem_euclid(7) + 1,
                        Field::Hour => hour,
                        Field::HourOfHalf => hour % 12,
                        Field::ClockHour => (hour + 23) % 24 + 1,
                        Field::ClockHourOfHalf => (hour + 11) % 12 + 1,
                        Field::Minute => seconds / 60 % 60,
                        Field::Second => seconds % 60,
                        Field::Nano => nanos,
                    };
                    let _ = write!(out, "{number:0width$}");
                }
            }
        }
    }

    /// Reads a local date and time; nothing if the text does not follow the pattern. What the
    /// pattern leaves out is 1970-01-01 00:00:00.
    pub(super) fn read(&self, text: &str) -> Option<Timestamp> {
        let mut rest = text;
        let (mut year, mut month, mut day, mut day_of_year) = (1970_i64, 1_u32, 1_u32, None);
        let (mut hour, mut half, mut minute, mut second, mut nanos) = (0_i64, None, 0, 0, 0_i64);
        for (i, part) in self.parts.iter().enumerate() {
            // A number right before another number has exactly its width.
            let adjacent = matches!(
                self.parts.get(i + 1),
                Some(Part::Number(..) | Part::ShortYear | Part::Fraction(_))
            );
            match part {
                Part::Literal(wanted) => rest = rest.strip_prefix(wanted.as_str())?,
                Part::ShortYear => {
                    year = 2000 + take_digits(&mut rest, 2, 2)?;
                }
                Part::Fraction(digits) => {
                    let before = rest.len();
                    // Fewer or more digits than the pattern are taken at the end of the text.
                    let max = if adjacent { *digits } else { 9 };
                    let number = take_digits(&mut rest, 1, max)?;
                    let found = (before - rest.len()) as u32;
                    let kept = found.min(*digits as u32);
                    nanos = number / 10_i64.pow(found - kept) * 10_i64.pow(9 - kept);
                }
                Part::MonthName(short) => {
                    month = take_name(&mut rest, &MONTHS, *short)? as u32 + 1;
                }
                Part::DayName(short) => {
                    take_name(&mut rest, &DAYS, *short)?;
                }
                Part::AmPm => half = Some(take_name(&mut rest, &["AM", "PM"], false)? as i64),
                Part::Era => {
                    take_name(&mut rest, &["BC", "AD"], false)?;
                }
                Part::Number(field, width) => {
                    let max = match field {
                        _ if adjacent => *width,
                        Field::Year | Field::WeekYear => 9.max(*width),
                        Field::Nano => 9,
                        Field::DayOfYear => 3,
                        _ => 2,
                    };
                    let number = take_digits(&mut rest, (*width).min(max), max.min(18))?;
                    match field {
                        Field::Year | Field::WeekYear => year = number,
                        Field::Month => month = u32::try_from(number).ok()?,
                        Field::Day => day = u32::try_from(number).ok()?,
                        Field::DayOfYear => day_of_year = Some(number),
                        Field::Hour => hour = number,
                        Field::HourOfHalf => {
                            hour = number;
                            half = half.or(Some(0));
                        }
                        Field::ClockHour => hour = number % 24,
                        Field::ClockHourOfHalf => {
                            hour = number % 12;
                            half = half.or(Some(0));
                        }
                        Field::Minute => minute = number,
                        Field::Second => second = number,
                        Field::Nano => nanos = number,
                        Field::Quarter | Field::Week | Field::DayOfWeek => {}
                    }
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        if let Some(half) = half {
            hour = hour % 12 + 12 * half;
        }
        let valid = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second);
        if !valid || !(-290_000..=290_000).contains(&year) {
            return None;
        }
        let days = match day_of_year {
            Some(day) => days_from_civil(year, 1, 1) + day - 1,
            None => days_from_civil(year, month, day),
        };
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Timestamp::from_parts(
            seconds * 1_000_000 + nanos / 1000,
            (nanos % 1000) as u16,
        ))
    }
}

/// Takes `min` to `max` digits off the front.
fn take_digits(rest: &mut &str, min: usize, max: usize) -> Option<i64> {
    let found = rest
        .bytes()
        .take(max)
        .take_while(u8::is_ascii_digit)
        .count();
    if found < min {
        return None;
    }
    let (digits, after) = rest.split_at(found);
    *rest = after;
    digits.parse().ok()
}

/// Takes one of some names off the front, in whatever case.
fn take_name(rest: &mut &str, names: &[&str], short: bool) -> Option<usize> {
    let found = names.iter().position(|name| {
        let name = if short { &name[..3] } else { name };
        rest.get(..name.len())
            .is_some_and(|front| front.eq_ignore_ascii_case(name))
    })?;
    let length = if short { 3 } else { names[found].len() };
    *rest = &rest[length..];
    Some(found)
}

/// Patterns compiled from a column: the last one is kept, because it hardly ever changes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    last: std::sync::Mutex<Option<(String, Pattern)>>,
}

impl Cache {
    /// Runs a function with the compiled pattern.
    pub(super) fn with<R>(&self, text: &str, f: impl FnOnce(&Pattern) -> R) -> Result<R> {
        // A poisoned lock holds a whole pattern or none: both can be used.
        let mut last = self
            .last
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match last.as_ref() {
            Some((known, pattern)) if known == text => Ok(f(pattern)),
            _ => {
                let pattern = Pattern::compile(text)?;
                let result = f(&pattern);
                *last = Some((text.to_owned(), pattern));
                Ok(result)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, timestamp: &str) {
        let pattern = Pattern::compile(pattern).unwrap();
        let expected: Timestamp = timestamp.parse().unwrap();
        assert_eq!(pattern.read(text), Some(expected), "{pattern:?}");
        let mut out = String::new();
        pattern.write(expected, &mut out);
        assert_eq!(out, text, "{pattern:?}");
    }

    #[test]
    fn there_and_back() {
        check(
            "yyyy-MM-dd HH:mm:ss.SSS",
            "2020-01-31 10:20:45.123",
            "2020-01-31 10:20:45.123",
        );
        check("yyyyMMdd", "20200131", "2020-01-31");
        check(
            "yyyyMMdd mm:ss.SSSSSSS",
            "20000202 59:59.1234567",
            "2000-02-02 00:59:59.1234567",
        );
        check("dd/MM/yy", "31/01/20", "2020-01-31");
        check(
            "d MMM yyyy 'at' h:mm a",
            "3 Feb 2020 at 2:05 PM",
            "2020-02-03 14:05:00",
        );
        check("D yyyy", "60 2020", "2020-02-29");
        check("yyyy''MM", "2020'05", "2020-05-01");
    }

    #[test]
    fn bad_texts_and_patterns() {
        let read = |pattern: &str, text: &str| Pattern::compile(pattern).unwrap().read(text);
        assert_eq!(read("yyyy-MM-dd", "2020-13-01"), None);
        assert_eq!(read("yyyy-MM-dd", "2021-02-29"), None);
        assert_eq!(read("yyyy-MM-dd", "2021-02-28x"), None);
        assert_eq!(read("yyyy-MM-dd", "ä"), None);
        assert_eq!(read("MMM", "日本"), None);
        for bad in ["yyyy 'open", "ZZZ", "MMMMM"] {
            assert!(Pattern::compile(bad).is_err(), "{bad}");
        }
    }
}

//! Types of option values and their text forms (those of Flink).

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// A type of option values.
pub trait ConfigValue: Sized {
    /// Name of the type, as errors and the reference page show it.
    fn type_name() -> String;

    /// Reads a value.
    ///
    /// # Errors
    /// A reason in words, without the key and the value.
    fn parse(text: &str) -> Result<Self, String>;

    /// The text that [`parse`](Self::parse) reads back; `None` means unset.
    fn to_text(&self) -> Option<String>;

    /// The value of an option that is unset and has no default.
    fn unset() -> Option<Self> {
        None
    }
}

macro_rules! number_values {
    ($($type:ty => $name:literal),* $(,)?) => {$(
        impl ConfigValue for $type {
            fn type_name() -> String {
                $name.to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.trim().parse().map_err(|error| format!("{error}"))
            }

            fn to_text(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )*};
}

number_values! {
    u16 => "whole number from 0 to 65535",
    u32 => "whole number",
    u64 => "whole number",
    usize => "whole number",
    i32 => "integer",
    i64 => "integer",
    NonZeroU64 => "whole number from 1",
    NonZeroUsize => "whole number from 1",
}

impl ConfigValue for f64 {
    fn type_name() -> String {
        "number".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err("it must be finite".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl ConfigValue for bool {
    fn type_name() -> String {
        "boolean".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("write 'true' or 'false'".to_owned()),
        }
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl ConfigValue for String {
    fn type_name() -> String {
        "string".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn to_text(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl ConfigValue for PathBuf {
    fn type_name() -> String {
        "path".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let path = text.trim();
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.is_empty() {
            Err("it is empty".to_owned())
        } else if let Some((scheme, _)) = path.split_once("://") {
            Err(format!(
                "scheme '{scheme}' is not supported; give a local path"
            ))
        } else {
            Ok(Self::from(path))
        }
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string_lossy().into_owned())
    }
}

impl ConfigValue for Duration {
    fn type_name() -> String {
        "duration".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse_duration(text)
    }

    fn to_text(&self) -> Option<String> {
        Some(format_duration(*self))
    }
}

/// Names of the units of a duration and their length in nanoseconds; the first name is the one shown.
const DURATION_UNITS: &[(&[&str], u64)] = &[
    (&["d", "day", "days"], 86_400_000_000_000),
    (&["h", "hour", "hours"], 3_600_000_000_000),
    (&["min", "m", "minute", "minutes"], 60_000_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (
        &["ms", "milli", "millis", "millisecond", "milliseconds"],
        1_000_000,
    ),
    (
        &["us", "µs", "micro", "micros", "microsecond", "microseconds"],
        1_000,
    ),
    (&["ns", "nano", "nanos", "nanosecond", "nanoseconds"], 1),
];

/// Reads a duration in Flink's text form: a whole number and a unit (`5 ms`, `10s`, `1 min`); without a
/// unit it is milliseconds.
///
/// # Errors
/// A reason in words.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text)?;
    let nanos_per_unit = if unit.is_empty() {
        1_000_000
    } else {
        unit_size(DURATION_UNITS, &unit)
            .ok_or_else(|| format!("unit '{unit}' is not one of d, h, min, s, ms, us, ns"))?
    };
    number
        .checked_mul(nanos_per_unit)
        .map(Duration::from_nanos)
        .ok_or_else(|| "it is too long".to_owned())
}

/// The text of a duration with the largest unit that gives a whole number.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0 ms".to_owned();
    }
    let (names, size) = DURATION_UNITS
        .iter()
        .find(|(_, size)| nanos.is_multiple_of(u128::from(*size)))
        .expect("one nanosecond divides every duration");
    format!("{} {}", nanos / u128::from(*size), names[0])
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemorySize(pub u64);

impl MemorySize {
    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

const MEMORY_UNITS: &[(&[&str], u64)] = &[
    (&["tb", "t", "tebibytes"], 1 << 40),
    (&["gb", "g", "gibibytes"], 1 << 30),
    (&["mb", "m", "mebibytes"], 1 << 20),
    (&["kb", "k", "kibibytes"], 1 << 10),
    (&["bytes", "b"], 1),
];

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, size) = MEMORY_UNITS
            .iter()
            .find(|(_, size)| self.0 != 0 && self.0.is_multiple_of(*size))
            .unwrap_or(&MEMORY_UNITS[MEMORY_UNITS.len() - 1]);
        write!(f, "{} {}", self.0 / size, names[0])
    }
}

impl ConfigValue for MemorySize {
    fn type_name() -> String {
        "memory size".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (number, unit) = split_unit(text)?;
        let bytes_per_unit = if unit.is_empty() {
            1
        } else {
            unit_size(MEMORY_UNITS, &unit)
                .ok_or_else(|| format!("unit '{unit}' is not one of tb, gb, mb, kb, bytes"))?
        };
        number
            .checked_mul(bytes_per_unit)
            .map(Self)
            .ok_or_else(|| "it is too large".to_owned())
    }

    fn to_text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A whole number and the lower-case word behind it.
fn split_unit(text: &str) -> Result<(u64, String), String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    if digits == 0 {
        return Err("it must start with a whole number".to_owned());
    }
    let number = text[..digits]
        .parse()
        .map_err(|_| "the number is too large".to_owned())?;
    Ok((number, text[digits..].trim().to_lowercase()))
}

fn unit_size(units: &[(&[&str], u64)], unit: &str) -> Option<u64> {
    units
        .iter()
        .find(|(names, _)| names.contains(&unit))
        .map(|(_, size)| *size)
}

/// Items separated by `;`, as in Flink.
impl<V: ConfigValue> ConfigValue for Vec<V> {
    fn type_name() -> String {
        format!("list of {}, separated by ';'", V::type_name())
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.split(';')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| V::parse(item).map_err(|reason| format!("item '{item}': {reason}")))
            .collect()
    }

    fn to_text(&self) -> Option<String> {
        let items: Vec<_> = self.iter().filter_map(ConfigValue::to_text).collect();
        Some(items.join(";"))
    }
}

impl<V: ConfigValue> ConfigValue for Option<V> {
    fn type_name() -> String {
        V::type_name()
    }

    fn parse(text: &str) -> Result<Self, String> {
        V::parse(text).map(Some)
    }

    fn to_text(&self) -> Option<String> {
        self.as_ref().and_then(ConfigValue::to_text)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// Defines an enum whose values have one word each, as a type of option values.
macro_rules! config_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $($(#[$variant_attribute:meta])* $variant:ident => $text:literal),* $(,)? }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_attribute])* $variant),* }

        impl $crate::config::ConfigValue for $name {
            fn type_name() -> String {
                [$($text),*].join(" | ")
            }

            fn parse(text: &str) -> Result<Self, String> {
                $(if text.trim().eq_ignore_ascii_case($text) { return Ok(Self::$variant); })*
                Err(format!("write one of {}", [$($text),*].join(", ")))
            }

            fn to_text(&self) -> Option<String> {
                Some(match self { $(Self::$variant => $text),* }.to_owned())
            }
        }
    };
}
config_enum! {
    /// What happens when a job fails.
    pub enum RestartStrategyType {
        /// The job fails for good.
        None => "none",
        /// Restart a number of times, waiting the same time before each.
        FixedDelay => "fixed-delay",
        /// Restart for ever, waiting longer after each failure.
        ExponentialDelay => "exponential-delay",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_in_flinks_form() {
        let check = |text: &str, millis: u64| {
            assert_eq!(
                parse_duration(text).unwrap(),
                Duration::from_millis(millis),
                "{text}"
            );
        };
        check("5 ms", 5);
        check("5", 5);
        check("10s", 10_000);
        check(" 1 min ", 60_000);
        check("2 Hours", 7_200_000);
        check("1 d", 86_400_000);
        check("3000 us", 3);
        check("0 s", 0);
        for bad in [
            "",
            "ms",
            "-1 s",
            "1.5 s",
            "5 parsecs",
            "99999999999999999999",
            "999999999 d",
        ] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_sizes() {
        assert_eq!(MemorySize::parse("64 mb").unwrap().bytes(), 64 << 20);
        assert_eq!(MemorySize::parse("1000").unwrap().to_string(), "1000 bytes");
        assert_eq!(MemorySize(0).to_string(), "0 bytes");
        assert!(MemorySize::parse("64 mega").is_err());
        assert!(MemorySize::parse("99999999 tb").is_err());
    }

    #[test]
    fn lists_and_enums() {
        assert_eq!(<Vec<u64>>::parse("1; 2 ;;3").unwrap(), [1, 2, 3]);
        assert_eq!(
            <Vec<u64>>::parse("1;x").unwrap_err(),
            "item 'x': invalid digit found in string"
        );
        assert_eq!(
            RestartStrategyType::parse("Fixed-Delay").unwrap(),
            RestartStrategyType::FixedDelay
        );
        assert!(
            RestartStrategyType::parse("always")
                .unwrap_err()
                .contains("exponential-delay")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn text_reads_back(nanos: u64, bytes: u64, flags: Vec<bool>, number in -1e300f64..1e300) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&format_duration(duration)).unwrap(), duration);
            prop_assert_eq!(MemorySize::parse(&MemorySize(bytes).to_string()).unwrap(), MemorySize(bytes));
            prop_assert_eq!(<Vec<bool>>::parse(&flags.to_text().unwrap()).unwrap(), flags);
            prop_assert_eq!(f64::parse(&number.to_text().unwrap()).unwrap(), number);
        }
    }
}

//! Values as Flink's `Row.toString` prints them, and floating point numbers as Java does.

use std::fmt;

use super::Value;
use crate::temporal::format_date;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(v) => v.fmt(f),
            Self::TinyInt(v) => v.fmt(f),
            Self::SmallInt(v) => v.fmt(f),
            Self::Int(v) | Self::IntervalYearMonth(v) => v.fmt(f),
            Self::BigInt(v) | Self::IntervalDayTime(v) => v.fmt(f),
            Self::Float(v) => f.write_str(&format_float(*v)),
            Self::Double(v) => f.write_str(&format_double(*v)),
            Self::Decimal(v) => v.fmt(f),
            Self::String(v) => f.write_str(v),
            Self::Bytes(v) => {
                f.write_str("[")?;
                for (i, byte) in v.iter().enumerate() {
                    // Java's bytes are signed.
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, byte.cast_signed())?;
                }
                f.write_str("]")
            }
            Self::Date(v) => f.write_str(&format_date(*v)),
            Self::Time(v) => {
                let seconds = v / 1000;
                write!(f, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
                // Java's LocalTime leaves out zero seconds and milliseconds.
                if v % 60_000 != 0 {
                    write!(f, ":{:02}", seconds % 60)?;
                }
                if v % 1000 != 0 {
                    write!(f, ".{:03}", v % 1000)?;
                }
                Ok(())
            }
            Self::Timestamp(v) => v.fmt(f),
            Self::TimestampLtz(v) => write!(f, "{v}Z"),
            Self::Array(v) => {
                f.write_str("[")?;
                for (i, element) in v.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(v) => {
                f.write_str("{")?;
                for (i, (key, value)) in v.iter().enumerate() {
                    write!(f, "{}{key}={value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Self::Row(v) => v.fmt(f),
        }
    }
}

/// Returns Java's text of a double: `1.0`, `1.0E10`, `NaN`, `-Infinity`.
#[must_use]
pub fn format_double(value: f64) -> String {
    java_text(value, || format!("{value:?}"), || format!("{value:e}"))
}

/// Returns Java's text of a float.
#[must_use]
pub fn format_float(value: f32) -> String {
    java_text(
        value.into(),
        || format!("{value:?}"),
        || format!("{value:e}"),
    )
}

fn java_text(value: f64, plain: impl Fn() -> String, scientific: impl Fn() -> String) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return plain();
    }
    let text = scientific();
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let fraction = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{fraction}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::row_values;

    #[test]
    fn java_floats() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1e7, "1.0E7"),
            (9_999_999.5, "9999999.5"),
            (0.001, "0.001"),
            (0.000_123, "1.23E-4"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(format_double(value), text);
        }
        assert_eq!(format_float(0.1), "0.1");
    }

    #[test]
    fn rows() {
        let row = Row::of(row_values!["a", 1, None::<i32>, Row::of(row_values![true])]);
        assert_eq!(row.to_string(), "+I[a, 1, null, +I[true]]");
        assert_eq!(Value::Time(36_000_000).to_string(), "10:00");
        assert_eq!(Value::Bytes(vec![1, 255]).to_string(), "[1, -1]");
    }
}

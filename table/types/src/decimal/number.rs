//! One decimal number: an unscaled integer and a scale.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::error::TypesError;

/// A decimal number of at most 38 digits: `unscaled * 10^-scale`.
///
/// Order, equality and hash go by numeric value: 1.0 equals 1.00.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decimal {
    unscaled: i128,
    scale: u8,
}

const MAX_DIGITS: u32 = 38;

/// Returns 10 to the power `exponent`, or nothing beyond 10^38.
#[must_use]
pub fn pow10(exponent: u32) -> Option<i128> {
    (exponent <= MAX_DIGITS).then(|| 10_i128.pow(exponent))
}

impl Decimal {
    /// Makes a number from its parts; the scale is at most 38.
    #[must_use]
    pub fn new(unscaled: i128, scale: u8) -> Self {
        Self {
            unscaled,
            scale: scale.min(38),
        }
    }

    /// The integer of all digits.
    #[must_use]
    pub fn unscaled(self) -> i128 {
        self.unscaled
    }

    /// Number of digits after the point.
    #[must_use]
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Number of digits, at least one and at least the scale.
    #[must_use]
    pub fn precision(self) -> u8 {
        let digits = self
            .unscaled
            .unsigned_abs()
            .checked_ilog10()
            .map_or(1, |n| n + 1);
        (digits as u8).max(self.scale)
    }

    /// Rounds half up (away from zero) to a scale; nothing if 38 digits do not suffice.
    #[must_use]
    pub fn rescale(self, scale: u8) -> Option<Self> {
        let unscaled = rescale_unscaled(self.unscaled, self.scale, scale)?;
        Some(Self { unscaled, scale })
    }

    /// Rounds half up to `DECIMAL(precision, scale)`; nothing if it does not fit.
    #[must_use]
    pub fn fit(self, precision: u8, scale: u8) -> Option<Self> {
        let number = self.rescale(scale)?;
        let limit = pow10(precision.into())?;
        (number.unscaled.abs() < limit).then_some(number)
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // Through text, because it rounds once: dividing two large doubles rounds thrice.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The exact shortest decimal text of a double, as a number; nothing for NaN, infinities and
    /// numbers beyond 38 digits.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() || value.abs() >= 1e38 {
            return None;
        }
        // Rust prints the shortest digits that give the same double, without an exponent.
        parse_digits(&format!("{value}"), true)
    }

    /// The integer part, cut towards zero.
    #[must_use]
    pub fn trunc(self) -> i128 {
        self.unscaled / 10_i128.pow(self.scale.into())
    }
}

/// Moves an unscaled number from one scale to another, rounding half up (away from zero).
fn rescale_unscaled(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return unscaled.checked_mul(pow10(u32::from(to - from))?);
    }
    let divisor = pow10(u32::from(from - to))?;
    let (quotient, rest) = (unscaled / divisor, unscaled % divisor);
    // `rest` is below 10^38, so that its double is below i128::MAX / 0.85: compare by half.
    let up = rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
    Some(if up {
        quotient + unscaled.signum()
    } else {
        quotient
    })
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(value.into(), 0)
    }
}

/// Reads `[+-]digits[.digits][e[+-]digits]`; `lossy` rounds what exceeds scale 38.
fn parse_digits(text: &str, lossy: bool) -> Option<Decimal> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (body, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], body[at + 1..].parse::<i32>().ok()?),
        None => (body, 0),
    };
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !whole
        .bytes()
        .chain(fraction.bytes())
        .all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let mut scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
    let mut digits = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|b| i128::from(b - b'0'))
        .skip_while(|d| *d == 0);
    let mut unscaled: i128 = 0;
    for digit in digits.by_ref() {
        unscaled = match unscaled.checked_mul(10).and_then(|n| n.checked_add(digit)) {
            Some(n) if n < 10_i128.pow(38) => n,
            // A 39th digit: only fraction digits may be rounded away.
            _ if lossy && scale > 0 => {
                let rest = 1 + i64::try_from(digits.by_ref().count()).ok()?;
                scale -= rest;
                if scale < 0 {
                    return None;
                }
                unscaled += i128::from(digit >= 5);
                break;
            }
            _ => return None,
        };
    }
    if unscaled == 0 && scale > 38 {
        scale = 38;
    }
    if scale < 0 {
        unscaled = unscaled.checked_mul(pow10(u32::try_from(-scale).ok()?)?)?;
        scale = 0;
    }
    while scale > 38 {
        let (quotient, rest) = (unscaled / 10, unscaled % 10);
        if rest != 0 && !lossy {
            return None;
        }
        // Only the last digit dropped decides, as in one rounding from a cut number.
        unscaled = quotient + i128::from(scale == 39 && rest >= 5);
        scale -= 1;
        if unscaled == 0 {
            scale = scale.min(38);
        }
    }
    if unscaled.abs() >= 10_i128.pow(38) {
        return None;
    }
    Some(Decimal::new(
        if negative { -unscaled } else { unscaled },
        scale as u8,
    ))
}

impl FromStr for Decimal {
    type Err = TypesError;

    /// Reads a plain or scientific number; fractions beyond 38 digits are rounded.
    fn from_str(text: &str) -> Result<Self, TypesError> {
        parse_digits(text, true).ok_or_else(|| TypesError::ParseValue {
            text: text.to_owned(),
            type_name: "DECIMAL".to_owned(),
        })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        let text = if scale == 0 {
            digits
        } else {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{whole}.{fraction}")
        };
        f.pad_integral(self.unscaled >= 0, "", &text)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        let a = rescale_unscaled(self.unscaled, self.scale, scale);
        let b = rescale_unscaled(other.unscaled, other.scale, scale);
        match (a, b) {
            (Some(a), Some(b)) => a.cmp(&b),
            // Too large for the common scale, so larger in magnitude than the other.
            (None, _) => self.unscaled.cmp(&0),
            (_, None) => 0.cmp(&other.unscaled),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (mut unscaled, mut scale) = (self.unscaled, self.scale);
        while scale > 0 && unscaled % 10 == 0 {
            unscaled /= 10;
            scale -= 1;
        }
        (unscaled, scale).hash(state);
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // As text, because JSON readers take large numbers as doubles.
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn text() {
        for text in [
            "0",
            "-0.05",
            "1.00",
            "123456789012345678901234567890.12345678",
        ] {
            assert_eq!(d(text).to_string(), text);
        }
        assert_eq!(d("1e3").to_string(), "1000");
        assert_eq!(d("1.5E-3").to_string(), "0.0015");
        assert_eq!(d(".5").to_string(), "0.5");
        assert_eq!(d("1e-400").to_string(), format!("0.{}", "0".repeat(38)));
        for bad in [
            "",
            "-",
            ".",
            "1.2.3",
            "1e",
            "e5",
            "1e99",
            "ä",
            "1e999999999999",
        ] {
            assert!(bad.parse::<Decimal>().is_err(), "{bad}");
        }
        assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
        assert_eq!(Decimal::from_f64(f64::MIN_POSITIVE).unwrap().unscaled(), 0);
        assert!(Decimal::from_f64(1e39).is_none());
    }

    #[test]
    fn rounding_and_order() {
        assert_eq!(d("2.5").rescale(0).unwrap().unscaled(), 3);
        assert_eq!(d("-2.5").rescale(0).unwrap().unscaled(), -3);
        assert_eq!(d("2.49").rescale(0).unwrap().unscaled(), 2);
        assert!(d("99.95").fit(3, 1).is_none());
        assert_eq!(d("1.0"), d("1.00"));
        assert!(d("99999999999999999999999999999999999999") > d("0.00000000000000000000000000001"));
        assert!(d("-99999999999999999999999999999999999999") < d("0.000000000000000000000000001"));
        assert_eq!(d("0.05").precision(), 2);
    }
}

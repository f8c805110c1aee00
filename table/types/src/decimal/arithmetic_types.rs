//! Result types of decimal arithmetic.
//!
//! Source: Flink's `LogicalTypeMerging` (`findAdditionDecimalType` and its siblings), which
//! follows SQL Server: when 38 digits do not suffice, the fraction gives way, but not below
//! `min(scale, 6)` digits.

use crate::data_type::{LogicalType, MAX_PRECISION_DECIMAL};

const MAX: i32 = MAX_PRECISION_DECIMAL as i32;
const MIN_KEPT_SCALE: i32 = 6;

fn plain(precision: i32, scale: i32) -> (u8, u8) {
    let precision = precision.clamp(1, MAX);
    (precision as u8, scale.clamp(0, precision) as u8)
}

/// Cuts the fraction so that the whole digits fit.
fn adjusted(precision: i32, scale: i32) -> (u8, u8) {
    if precision <= MAX {
        return plain(precision, scale);
    }
    let whole = precision - scale;
    let kept = scale.min(MIN_KEPT_SCALE);
    plain(MAX, (MAX - whole).max(kept))
}

type Parameters = (u8, u8);

fn wide((precision, scale): Parameters) -> (i32, i32) {
    (precision.into(), scale.into())
}

/// Precision and scale of `a + b`.
#[must_use]
pub fn add_type(a: Parameters, b: Parameters) -> Parameters {
    let ((p1, s1), (p2, s2)) = (wide(a), wide(b));
    let scale = s1.max(s2);
    adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale)
}

/// Precision and scale of `a - b`.
#[must_use]
pub fn subtract_type(a: Parameters, b: Parameters) -> Parameters {
    add_type(a, b)
}

/// Precision and scale of `a * b`.
#[must_use]
pub fn multiply_type(a: Parameters, b: Parameters) -> Parameters {
    let ((p1, s1), (p2, s2)) = (wide(a), wide(b));
    adjusted(p1 + p2 + 1, s1 + s2)
}

/// Precision and scale of `a / b`.
#[must_use]
pub fn divide_type(a: Parameters, b: Parameters) -> Parameters {
    let ((p1, s1), (p2, s2)) = (wide(a), wide(b));
    let scale = (s1 + p2 + 1).max(6);
    adjusted(p1 - s1 + s2 + scale, scale)
}

/// Precision and scale of `a % b`.
#[must_use]
pub fn modulo_type(a: Parameters, b: Parameters) -> Parameters {
    let ((p1, s1), (p2, s2)) = (wide(a), wide(b));
    let scale = s1.max(s2);
    adjusted((p1 - s1).min(p2 - s2) + scale, scale)
}

/// Precision and scale of `SUM(a)`.
#[must_use]
pub fn sum_type(a: Parameters) -> Parameters {
    (MAX_PRECISION_DECIMAL, a.1)
}

/// Precision and scale of `AVG(a)`: 38 digits, at least six of them after the point.
#[must_use]
pub fn avg_type(a: Parameters) -> Parameters {
    divide_type((MAX_PRECISION_DECIMAL, a.1), (20, 0))
}

/// Precision and scale of `ROUND(a, digits)`; a negative `digits` rounds whole digits.
#[must_use]
pub fn round_type(a: Parameters, digits: i32) -> Parameters {
    let (precision, scale) = wide(a);
    if digits >= scale {
        return a;
    }
    if digits < 0 {
        return plain((precision - scale + 1).min(MAX), 0);
    }
    plain(1 + precision - scale + digits, digits)
}

/// Precision and scale of the decimal type that holds all values of an exact numeric type.
#[must_use]
pub fn integer_as_decimal(logical: &LogicalType) -> Option<Parameters> {
    match logical {
        LogicalType::TinyInt => Some((3, 0)),
        LogicalType::SmallInt => Some((5, 0)),
        LogicalType::Int => Some((10, 0)),
        LogicalType::BigInt => Some((19, 0)),
        LogicalType::Decimal { precision, scale } => Some((*precision, *scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_reference_says() {
        assert_eq!(divide_type((19, 0), (10, 0)), (30, 11));
        assert_eq!(add_type((19, 0), (10, 0)), (20, 0));
        assert_eq!(divide_type((20, 2), (2, 1)), (25, 6));
        assert_eq!(multiply_type((38, 10), (38, 10)), (38, 6));
        assert_eq!(divide_type((2, 1), (10, 0)), (13, 12));
        assert_eq!(modulo_type((10, 2), (5, 3)), (5, 3));
        assert_eq!(sum_type((8, 4)), (38, 4));
        assert_eq!(avg_type((8, 2)), (38, 6));
        assert_eq!(round_type((10, 3), 1), (9, 1));
    }
}

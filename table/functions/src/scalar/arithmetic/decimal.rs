//! Kernels of operators on decimals.
//!
//! The exact result is computed in 128 bits where the types guarantee that it fits, else in 256
//! bits, rounded half up to the result's scale; what exceeds the result's precision is NULL, as
//! in Flink.

use aquifer_types::decimal::pow10;
use aquifer_types::{DataType, LogicalType};
use arrow_array::types::Decimal128Type;
use arrow_buffer::i256;

use crate::definition::{Kernel, KernelArgs};
use crate::kernel::primitive::{binary, try_binary};

/// Precision and scale of a decimal type.
pub(super) fn parameters(data_type: &DataType) -> Option<(u32, u32)> {
    match data_type.logical {
        LogicalType::Decimal { precision, scale } => Some((precision.into(), scale.into())),
        _ => None,
    }
}

fn power(exponent: u32) -> Option<i256> {
    if exponent <= 38 {
        return pow10(exponent).map(i256::from_i128);
    }
    let rest = pow10(exponent.checked_sub(38)?)?;
    i256::from_i128(10_i128.pow(38)).checked_mul(i256::from_i128(rest))
}

/// Divides and rounds half up (away from zero).
fn divide_half_up(number: i256, divisor: i256) -> Option<i256> {
    let quotient = number.checked_div(divisor)?;
    let rest = number.checked_rem(divisor)?;
    let double = rest.wrapping_abs().checked_mul(i256::from_i128(2))?;
    if double < divisor.wrapping_abs() {
        return Some(quotient);
    }
    let negative = number.is_negative() != divisor.is_negative();
    quotient.checked_add(if negative { i256::MINUS_ONE } else { i256::ONE })
}

/// Brings a number of a scale to the result's precision and scale.
fn fit(number: i256, scale: u32, result: (u32, u32)) -> Option<i128> {
    let (precision, wanted) = result;
    let number = if wanted >= scale {
        number.checked_mul(power(wanted - scale)?)?
    } else {
        divide_half_up(number, power(scale - wanted)?)?
    };
    let number = number.to_i128()?;
    (number.unsigned_abs() < pow10(precision)?.unsigned_abs()).then_some(number)
}

fn kernel(
    args: &KernelArgs<'_>,
    f: impl Fn(i128, i128) -> Result<Option<i128>, String> + Send + Sync + 'static,
) -> Kernel {
    let result = args.result.to_arrow();
    Box::new(move |c, context| {
        type D = Decimal128Type;
        try_binary::<D, D, D>(&c[0], &c[1], context.rows, &result, &f)
    })
}

/// Makes a kernel of a function whose results always fit the result's type.
fn total(args: &KernelArgs<'_>, f: impl Fn(i128, i128) -> i128 + Send + Sync + 'static) -> Kernel {
    let result = args.result.to_arrow();
    Box::new(move |c, _| {
        type D = Decimal128Type;
        binary::<D, D, D>(&c[0], &c[1], &result, &f)
    })
}

fn sum(args: &KernelArgs<'_>, negate: bool) -> Option<Kernel> {
    let (_, s1) = parameters(&args.types[0])?;
    let (_, s2) = parameters(&args.types[1])?;
    let result = parameters(args.result)?;
    let scale = s1.max(s2);
    if result.0 < 38 && result.1 == scale {
        // The result's type holds every sum of the operands' types.
        let (m1, m2) = (pow10(scale - s1)?, pow10(scale - s2)?);
        let m2 = if negate { -m2 } else { m2 };
        return Some(total(args, move |a, b| {
            a.wrapping_mul(m1).wrapping_add(b.wrapping_mul(m2))
        }));
    }
    let (m1, m2) = (power(scale - s1)?, power(scale - s2)?);
    Some(kernel(args, move |a, b| {
        let a = i256::from_i128(a).wrapping_mul(m1);
        let b = i256::from_i128(b).wrapping_mul(m2);
        let sum = if negate {
            a.wrapping_sub(b)
        } else {
            a.wrapping_add(b)
        };
        Ok(fit(sum, scale, result))
    }))
}

pub(super) fn add(args: &KernelArgs<'_>) -> Option<Kernel> {
    sum(args, false)
}

pub(super) fn subtract(args: &KernelArgs<'_>) -> Option<Kernel> {
    sum(args, true)
}

pub(super) fn multiply(args: &KernelArgs<'_>) -> Option<Kernel> {
    let (p1, s1) = parameters(&args.types[0])?;
    let (p2, s2) = parameters(&args.types[1])?;
    let result = parameters(args.result)?;
    if p1 + p2 <= 38 && result.1 == s1 + s2 {
        return Some(total(args, i128::wrapping_mul));
    }
    Some(kernel(args, move |a, b| {
        let product = i256::from_i128(a).wrapping_mul(i256::from_i128(b));
        Ok(fit(product, s1 + s2, result))
    }))
}

pub(super) fn divide(args: &KernelArgs<'_>) -> Option<Kernel> {
    let (_, s1) = parameters(&args.types[0])?;
    let (_, s2) = parameters(&args.types[1])?;
    let (precision, scale) = parameters(args.result)?;
    // The scale of a quotient is at least the dividend's by its type rule, unless it was cut.
    let (up, down) = (
        (scale + s2).saturating_sub(s1),
        s1.saturating_sub(scale + s2),
    );
    let (p1, _) = parameters(&args.types[0])?;
    if down == 0 && p1 + up < 38 && precision < 38 {
        // The dividend, scaled up and doubled, fits in 128 bits, and the result's type holds all
        // quotients.
        let factor = pow10(up)?;
        return Some(kernel(args, move |a, b| {
            if b == 0 {
                return Err("division by zero".to_owned());
            }
            let dividend = a * factor;
            let (quotient, rest) = (dividend / b, dividend % b);
            let up = rest.unsigned_abs() * 2 >= b.unsigned_abs();
            let away = if (dividend < 0) == (b < 0) { 1 } else { -1 };
            Ok(Some(if up { quotient + away } else { quotient }))
        }));
    }
    let (up, down) = (power(up)?, power(down)?);
    Some(kernel(args, move |a, b| {
        if b == 0 {
            return Err("division by zero".to_owned());
        }
        let quotient = i256::from_i128(a)
            .checked_mul(up)
            .zip(i256::from_i128(b).checked_mul(down))
            .and_then(|(number, divisor)| divide_half_up(number, divisor));
        // A dividend beyond 256 bits has a quotient beyond 38 digits.
        Ok(quotient.and_then(|q| fit(q, scale, (precision, scale))))
    }))
}

pub(super) fn modulo(args: &KernelArgs<'_>) -> Option<Kernel> {
    let (_, s1) = parameters(&args.types[0])?;
    let (_, s2) = parameters(&args.types[1])?;
    let result = parameters(args.result)?;
    let scale = s1.max(s2);
    let (m1, m2) = (power(scale - s1)?, power(scale - s2)?);
    Some(kernel(args, move |a, b| {
        if b == 0 {
            return Err("division by zero".to_owned());
        }
        let a = i256::from_i128(a).wrapping_mul(m1);
        let b = i256::from_i128(b).wrapping_mul(m2);
        Ok(a.checked_rem(b).and_then(|rest| fit(rest, scale, result)))
    }))
}

pub(super) fn negate(unscaled: i128) -> i128 {
    unscaled.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use aquifer_types::decimal::divide_type;
    use aquifer_types::{DataTypes, Decimal, Value, column_value};
    use proptest::prelude::*;

    use crate::context::EvalContext;
    use crate::evaluator::Evaluator;
    use crate::expression::ResolvedExpr;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Quotients in 128 and in 256 bits against long division in text-free integers.
        #[test]
        fn quotients_are_rounded_half_up(
            a in -999_999_999_i64..1_000_000_000,
            b in -99_999_i64..100_000,
            s1 in 0_u8..6,
            s2 in 0_u8..6,
            wide in any::<bool>(),
        ) {
            let p1 = if wide { 30 } else { 9 };
            let literal = |v: i64, p: u8, s: u8| ResolvedExpr::typed_literal(
                Value::Decimal(Decimal::new(v.into(), s)),
                DataTypes::decimal(p, s).not_null(),
            );
            let quotient = ResolvedExpr::call("/", [literal(a, p1, s1), literal(b, 6, s2)]).unwrap();
            let (_, scale) = divide_type((p1, s1), (6, s2));
            let result = Evaluator::compile(&quotient)
                .unwrap()
                .evaluate(&[], 1, &EvalContext::default());
            if b == 0 {
                prop_assert_eq!(result.unwrap_err().code(), "function.runtime");
                return Ok(());
            }
            let (a, b) = (i128::from(a), i128::from(b));
            let exponent = i32::from(scale) + i32::from(s2) - i32::from(s1);
            let (number, divisor) = if exponent >= 0 {
                (a * 10_i128.pow(exponent as u32), b)
            } else {
                (a, b * 10_i128.pow(exponent.unsigned_abs()))
            };
            let magnitude = (2 * number.abs() + divisor.abs()) / (2 * divisor.abs());
            let sign = number.signum() * divisor.signum();
            let expected = Value::Decimal(Decimal::new(sign * magnitude, scale));
            let found = column_value(result.unwrap().as_ref(), 0, quotient.data_type());
            prop_assert_eq!(found, expected, "{}", quotient);
        }
    }
}

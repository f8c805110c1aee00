//! Types of arithmetic on two numbers.

use aquifer_types::decimal::integer_as_decimal;
use aquifer_types::{DataType, LogicalType, find_common_type};

use crate::signature::{Argument, Inferred};

type Parameters = (u8, u8);

/// Returns the types of an operator on two numbers: decimals keep their own precision and the
/// operator's rule gives the result's; all others are brought to their common type.
pub(super) fn numbers(
    arguments: &[Argument<'_>],
    decimal_rule: fn(Parameters, Parameters) -> Parameters,
) -> Option<Inferred> {
    let [a, b] = arguments else { return None };
    let nullable = a.data_type.nullable || b.data_type.nullable;
    let (x, y) = (
        as_number(&a.data_type.logical)?,
        as_number(&b.data_type.logical)?,
    );
    let both = [DataType::new(x.clone()), DataType::new(y.clone())];
    let common = find_common_type(&both)?;
    if let LogicalType::Decimal { .. } = common.logical {
        let (p, q) = (integer_as_decimal(&x)?, integer_as_decimal(&y)?);
        let (precision, scale) = decimal_rule(p, q);
        let decimal = |(precision, scale): Parameters, nullable: bool| DataType {
            logical: LogicalType::Decimal { precision, scale },
            nullable,
        };
        return Some(Inferred {
            arguments: vec![
                decimal(p, a.data_type.nullable),
                decimal(q, b.data_type.nullable),
            ],
            result: decimal((precision, scale), nullable),
        });
    }
    let typed = |nullable: bool| common.clone().with_nullable(nullable);
    Some(Inferred {
        arguments: vec![typed(a.data_type.nullable), typed(b.data_type.nullable)],
        result: typed(nullable),
    })
}

/// A number type as it is; a bare NULL counts as INT, and text is read as DOUBLE.
fn as_number(logical: &LogicalType) -> Option<LogicalType> {
    match logical {
        LogicalType::Null => Some(LogicalType::Int),
        other if other.is_numeric() => Some(other.clone()),
        _ => None,
    }
}

//! The common type that values are compared in.

use aquifer_types::{DataType, LogicalType, find_common_type};

use crate::signature::{Argument, Inferred};

/// Returns the type in which values of all the types are compared.
///
/// Text compared with a date, time or boolean is read as such, as Flink's implicit conversion does;
/// what cannot be read is NULL. Text and numbers are not comparable.
pub(super) fn comparable(types: &[DataType]) -> Option<DataType> {
    let mut nullable = types.iter().any(|t| t.nullable);
    let others: Vec<DataType> = types.iter().filter(|t| !t.is_string()).cloned().collect();
    let common = match find_common_type(types) {
        Some(common) => common,
        None => {
            let common = find_common_type(&others)?;
            if !common.logical.is_datetime() && common.logical != LogicalType::Boolean {
                return None;
            }
            nullable = true;
            common
        }
    };
    // Bare NULLs are compared as any type.
    let common = if common.logical == LogicalType::Null {
        LogicalType::Int.into()
    } else {
        common
    };
    Some(common.with_nullable(nullable))
}

/// Types of a comparison of any number of values; `ordered` asks for types that have an order.
pub(super) fn infer(arguments: &[Argument<'_>], ordered: bool) -> Option<Inferred> {
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    let common = comparable(&types)?;
    if ordered && !common.logical.is_comparable() {
        return None;
    }
    let result = DataType::new(LogicalType::Boolean).with_nullable(common.nullable);
    let arguments = types
        .iter()
        .map(|t| {
            let is_read = t.is_string() && !common.is_string();
            common.clone().with_nullable(t.nullable || is_read)
        })
        .collect();
    Some(Inferred { arguments, result })
}

/// Types of an equality of two values.
pub(super) fn equality(arguments: &[Argument<'_>]) -> Option<Inferred> {
    if arguments.len() != 2 {
        return None;
    }
    infer(arguments, false)
}

/// Types of a comparison of two values by order.
pub(super) fn order(arguments: &[Argument<'_>]) -> Option<Inferred> {
    if arguments.len() != 2 {
        return None;
    }
    infer(arguments, true)
}

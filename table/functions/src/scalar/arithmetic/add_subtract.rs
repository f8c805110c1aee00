//! `+` and `-`, with one or two arguments.

use aquifer_types::LogicalType;
use aquifer_types::decimal::{add_type, subtract_type};
use arrow_array::types::{
    Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, IntervalYearMonthType,
};

use super::{decimal, infer, numeric, temporal};
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs, Notation};
use crate::error::{FunctionError, Result};
use crate::kernel::primitive::unary;
use crate::signature::{Argument, Inferred};

pub(super) const PLUS: BuiltIn = BuiltIn::with(
    "+",
    "The sum of two numbers or intervals, or a point in time moved on by an interval.",
    Inference::Custom(
        &[
            "+<NUMERIC>",
            "<NUMERIC> + <NUMERIC>",
            "<DATETIME> + <INTERVAL>",
            "<INTERVAL> + <INTERVAL>",
        ],
        |arguments| match arguments {
            [one] => sign(one),
            _ => infer::numbers(arguments, add_type).or_else(|| temporal::infer(arguments, false)),
        },
    ),
    Implementation::Kernel(|args| {
        if args.types.len() == 1 {
            return Ok(Box::new(|c, _| Ok(c[0].clone())));
        }
        numeric::add(args)
            .or_else(|| decimal::add(args))
            .or_else(|| temporal::kernel(args, 1))
            .ok_or_else(|| unexpected("+"))
    }),
)
.notation(Notation::Infix)
.infallible();

pub(super) const MINUS: BuiltIn = BuiltIn::with(
    "-",
    "The difference of two numbers, intervals or points in time, or the negative of a number.",
    Inference::Custom(
        &[
            "-<NUMERIC>",
            "<NUMERIC> - <NUMERIC>",
            "<DATETIME> - <INTERVAL>",
            "<INTERVAL> - <INTERVAL>",
            "<DATETIME> - <DATETIME>",
        ],
        |arguments| match arguments {
            [one] => sign(one),
            _ => infer::numbers(arguments, subtract_type)
                .or_else(|| temporal::infer(arguments, true)),
        },
    ),
    Implementation::Kernel(|args| {
        if args.types.len() == 1 {
            return negate(args);
        }
        numeric::subtract(args)
            .or_else(|| decimal::subtract(args))
            .or_else(|| temporal::kernel(args, -1))
            .ok_or_else(|| unexpected("-"))
    }),
)
.notation(Notation::Infix)
.infallible();

pub(super) fn unexpected(operator: &str) -> FunctionError {
    FunctionError::runtime(format!(
        "operator {operator} has no kernel for its inferred types"
    ))
}

fn sign(argument: &Argument<'_>) -> Option<Inferred> {
    let logical = match &argument.data_type.logical {
        LogicalType::Null => LogicalType::Int,
        other if other.is_numeric() || other.is_interval() => other.clone(),
        _ => return None,
    };
    let data_type = aquifer_types::DataType {
        logical,
        nullable: argument.data_type.nullable,
    };
    Some(Inferred {
        arguments: vec![data_type.clone()],
        result: data_type,
    })
}

fn negate(args: &KernelArgs<'_>) -> Result<Kernel> {
    let result = args.result.to_arrow();
    macro_rules! run {
        ($arrow:ty, $f:expr) => {
            Ok(Box::new(move |c, _| {
                Ok(unary::<$arrow, $arrow>(&c[0], &result, $f))
            }))
        };
    }
    match args.result.logical {
        LogicalType::TinyInt => run!(Int8Type, i8::wrapping_neg),
        LogicalType::SmallInt => run!(Int16Type, i16::wrapping_neg),
        LogicalType::Int => run!(Int32Type, i32::wrapping_neg),
        LogicalType::BigInt => run!(Int64Type, i64::wrapping_neg),
        LogicalType::Float => run!(Float32Type, |x: f32| -x),
        LogicalType::Double => run!(Float64Type, |x: f64| -x),
        LogicalType::Decimal { .. } => run!(Decimal128Type, decimal::negate),
        LogicalType::IntervalYearMonth => run!(IntervalYearMonthType, i32::wrapping_neg),
        LogicalType::IntervalDayTime => run!(DurationMillisecondType, i64::wrapping_neg),
        _ => Err(unexpected("-")),
    }
}

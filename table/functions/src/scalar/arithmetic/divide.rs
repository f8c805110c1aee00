//! `/`: whole numbers give a whole number, cut towards zero.

use aquifer_types::LogicalType;
use aquifer_types::decimal::divide_type;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};

use super::add_subtract::unexpected;
use super::{decimal, infer};
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs, Notation};
use crate::error::Result;
use crate::kernel::primitive::{binary, try_binary};

pub(super) const DIVIDE: BuiltIn = BuiltIn::with(
    "/",
    "The quotient of two numbers; an integer or decimal divided by zero is an error.",
    Inference::Custom(&["<NUMERIC> / <NUMERIC>"], |arguments| {
        infer::numbers(arguments, divide_type)
    }),
    Implementation::Kernel(kernel),
)
.notation(Notation::Infix);

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let result = args.result.to_arrow();
    macro_rules! integer {
        ($arrow:ty) => {
            Ok(Box::new(move |c, x| {
                try_binary::<$arrow, $arrow, $arrow>(&c[0], &c[1], x.rows, &result, |a, b| {
                    if b == 0 {
                        return Err(format!("division of {a} by zero"));
                    }
                    Ok(Some(a.wrapping_div(b)))
                })
            }))
        };
    }
    match args.result.logical {
        LogicalType::TinyInt => integer!(Int8Type),
        LogicalType::SmallInt => integer!(Int16Type),
        LogicalType::Int => integer!(Int32Type),
        LogicalType::BigInt => integer!(Int64Type),
        LogicalType::Float => Ok(Box::new(move |c, _| {
            binary::<Float32Type, Float32Type, Float32Type>(&c[0], &c[1], &result, |a, b| a / b)
        })),
        LogicalType::Double => Ok(Box::new(move |c, _| {
            binary::<Float64Type, Float64Type, Float64Type>(&c[0], &c[1], &result, |a, b| a / b)
        })),
        _ => decimal::divide(args).ok_or_else(|| unexpected("/")),
    }
}

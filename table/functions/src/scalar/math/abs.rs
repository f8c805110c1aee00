//! `ABS`.

use aquifer_types::LogicalType;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use crate::definition::BuiltIn;
use crate::error::FunctionError;
use crate::kernel::primitive::unary;
use crate::signature::{Kind, Returns, Signature};

pub(super) const ABS: BuiltIn = BuiltIn::new(
    "ABS",
    "The number without its sign.",
    &[Signature::new(&[Kind::Numeric], Returns::Argument(0))],
    |args| {
        let result = args.result.to_arrow();
        macro_rules! run {
            ($arrow:ty, $f:expr) => {
                Ok(Box::new(move |c, _| {
                    Ok(unary::<$arrow, $arrow>(&c[0], &result, $f))
                }))
            };
        }
        match args.result.logical {
            LogicalType::TinyInt => run!(Int8Type, i8::wrapping_abs),
            LogicalType::SmallInt => run!(Int16Type, i16::wrapping_abs),
            LogicalType::Int => run!(Int32Type, i32::wrapping_abs),
            LogicalType::BigInt => run!(Int64Type, i64::wrapping_abs),
            LogicalType::Float => run!(Float32Type, f32::abs),
            LogicalType::Double => run!(Float64Type, f64::abs),
            LogicalType::Decimal { .. } => run!(Decimal128Type, i128::wrapping_abs),
            _ => Err(FunctionError::runtime("ABS takes numbers only")),
        }
    },
)
.infallible();

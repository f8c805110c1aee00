//! `SIGN`.

use aquifer_types::LogicalType;
use aquifer_types::decimal::pow10;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use crate::definition::BuiltIn;
use crate::error::FunctionError;
use crate::kernel::primitive::unary;
use crate::signature::{Kind, Returns, Signature};

pub(super) const SIGN: BuiltIn = BuiltIn::new(
    "SIGN",
    "-1, 0 or 1, as the number is negative, zero or positive.",
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
            LogicalType::TinyInt => run!(Int8Type, i8::signum),
            LogicalType::SmallInt => run!(Int16Type, i16::signum),
            LogicalType::Int => run!(Int32Type, i32::signum),
            LogicalType::BigInt => run!(Int64Type, i64::signum),
            // Java's signum of zero is zero; Rust's is one.
            LogicalType::Float => run!(Float32Type, |x: f32| if x == 0.0 { x } else { x.signum() }),
            LogicalType::Double => {
                run!(Float64Type, |x: f64| if x == 0.0 { x } else { x.signum() })
            }
            LogicalType::Decimal { scale, .. } => {
                let one = pow10(scale.into()).unwrap_or(1);
                run!(Decimal128Type, move |x: i128| x.signum() * one)
            }
            _ => Err(FunctionError::runtime("SIGN takes numbers only")),
        }
    },
)
.infallible();

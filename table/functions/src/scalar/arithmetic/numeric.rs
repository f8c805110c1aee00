//! Kernels of operators on integers and floating point numbers: integers wrap, as Java's do.

use aquifer_types::LogicalType;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};

use crate::definition::{Kernel, KernelArgs};
use crate::kernel::primitive::binary;

/// Makes a kernel of a total operator on two numbers of the same type.
macro_rules! wrapping_kernel {
    ($args:expr, $integer:ident, $float:tt) => {
        match &$args.result.logical {
            LogicalType::TinyInt => Some(number!($args, Int8Type, |a: i8, b: i8| a.$integer(b))),
            LogicalType::SmallInt => {
                Some(number!($args, Int16Type, |a: i16, b: i16| a.$integer(b)))
            }
            LogicalType::Int => Some(number!($args, Int32Type, |a: i32, b: i32| a.$integer(b))),
            LogicalType::BigInt => Some(number!($args, Int64Type, |a: i64, b: i64| a.$integer(b))),
            LogicalType::Float => Some(number!($args, Float32Type, |a: f32, b: f32| a $float b)),
            LogicalType::Double => Some(number!($args, Float64Type, |a: f64, b: f64| a $float b)),
            _ => None,
        }
    };
}

macro_rules! number {
    ($args:expr, $arrow:ty, $f:expr) => {{
        let result = $args.result.to_arrow();
        let kernel: Kernel =
            Box::new(move |c, _| binary::<$arrow, $arrow, $arrow>(&c[0], &c[1], &result, $f));
        kernel
    }};
}

pub(super) fn add(args: &KernelArgs<'_>) -> Option<Kernel> {
    wrapping_kernel!(args, wrapping_add, +)
}

pub(super) fn subtract(args: &KernelArgs<'_>) -> Option<Kernel> {
    wrapping_kernel!(args, wrapping_sub, -)
}

pub(super) fn multiply(args: &KernelArgs<'_>) -> Option<Kernel> {
    wrapping_kernel!(args, wrapping_mul, *)
}

//! Exact decimal numbers: one value, and the result types of arithmetic.

mod arithmetic_types;
mod number;

pub use arithmetic_types::{
    add_type, avg_type, divide_type, integer_as_decimal, modulo_type, multiply_type, round_type,
    subtract_type, sum_type,
};
pub use number::{Decimal, pow10};

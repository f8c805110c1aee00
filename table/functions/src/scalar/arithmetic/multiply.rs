//! `*`.

use aquifer_types::decimal::multiply_type;

use super::add_subtract::unexpected;
use super::{decimal, infer, numeric, temporal};
use crate::definition::{BuiltIn, Implementation, Inference, Notation};

pub(super) const TIMES: BuiltIn = BuiltIn::with(
    "*",
    "The product of two numbers, or of an interval and a whole number.",
    Inference::Custom(
        &["<NUMERIC> * <NUMERIC>", "<INTERVAL> * <INTEGER>"],
        |arguments| {
            infer::numbers(arguments, multiply_type).or_else(|| temporal::infer_times(arguments))
        },
    ),
    Implementation::Kernel(|args| {
        numeric::multiply(args)
            .or_else(|| decimal::multiply(args))
            .or_else(|| temporal::times_kernel(args))
            .ok_or_else(|| unexpected("*"))
    }),
)
.notation(Notation::Infix)
.infallible();

//! Functions of one DOUBLE, and the constants: one list, because each is one expression.

use std::sync::Arc;

use arrow_array::Float64Array;
use arrow_array::types::Float64Type;

use crate::column::Column;
use crate::definition::{BuiltIn, Kernel, KernelArgs};
use crate::error::Result;
use crate::kernel::primitive::{binary, unary};
use crate::signature::{Kind, Returns, Signature};

const ONE: &[Signature] = &[Signature::new(&[Kind::Double], Returns::Double)];

fn one(args: &KernelArgs<'_>, f: fn(f64) -> f64) -> Result<Kernel> {
    let result = args.result.to_arrow();
    Ok(Box::new(move |c, _| {
        Ok(unary::<Float64Type, Float64Type>(&c[0], &result, f))
    }))
}

macro_rules! functions {
    ($($constant:ident = $f:expr, $doc:literal;)+) => {$(
        pub(super) const $constant: BuiltIn =
            BuiltIn::new(stringify!($constant), $doc, ONE, |args| one(args, $f)).infallible();
    )+};
}

functions! {
    ACOS = f64::acos, "The arc cosine.";
    ASIN = f64::asin, "The arc sine.";
    ATAN = f64::atan, "The arc tangent.";
    COS = f64::cos, "The cosine.";
    COSH = f64::cosh, "The hyperbolic cosine.";
    COT = |x| 1.0 / x.tan(), "The cotangent.";
    DEGREES = f64::to_degrees, "Radians as degrees.";
    EXP = f64::exp, "The power of Euler's number.";
    LN = f64::ln, "The natural logarithm.";
    LOG10 = f64::log10, "The logarithm to base 10.";
    LOG2 = |x| x.ln() / std::f64::consts::LN_2, "The logarithm to base 2.";
    RADIANS = f64::to_radians, "Degrees as radians.";
    SIN = f64::sin, "The sine.";
    SINH = f64::sinh, "The hyperbolic sine.";
    SQRT = f64::sqrt, "The square root.";
    TAN = f64::tan, "The tangent.";
    TANH = f64::tanh, "The hyperbolic tangent.";
}

pub(super) const ATAN2: BuiltIn = BuiltIn::new(
    "ATAN2",
    "The angle of the point with the first value as ordinate and the second as abscissa.",
    &[Signature::new(
        &[Kind::Double, Kind::Double],
        Returns::Double,
    )],
    |args| {
        let result = args.result.to_arrow();
        Ok(Box::new(move |c, _| {
            binary::<Float64Type, Float64Type, Float64Type>(&c[0], &c[1], &result, f64::atan2)
        }))
    },
)
.infallible();

fn constant(value: f64) -> Result<Kernel> {
    Ok(Box::new(move |_, context| {
        Ok(Column::Array(Arc::new(Float64Array::from_value(
            value,
            context.rows,
        ))))
    }))
}

const NONE: &[Signature] = &[Signature::new(&[], Returns::Double)];

pub(super) const E: BuiltIn = BuiltIn::new("E", "Euler's number.", NONE, |_| {
    constant(std::f64::consts::E)
})
.infallible();

pub(super) const PI: BuiltIn = BuiltIn::new("PI", "The circle's number.", NONE, |_| {
    constant(std::f64::consts::PI)
})
.infallible();

//! `LOG`: the natural logarithm, or one to a base.

use arrow_array::types::Float64Type;

use crate::definition::BuiltIn;
use crate::kernel::primitive::{binary, unary};
use crate::signature::{Kind, Returns, Signature};

pub(super) const LOG: BuiltIn = BuiltIn::new(
    "LOG",
    "The natural logarithm of a number, or the logarithm to the first number as base of the second.",
    &[
        Signature::new(&[Kind::Double], Returns::Double),
        Signature::new(&[Kind::Double, Kind::Double], Returns::Double),
    ],
    |args| {
        let result = args.result.to_arrow();
        if args.types.len() == 1 {
            return Ok(Box::new(move |c, _| {
                Ok(unary::<Float64Type, Float64Type>(&c[0], &result, f64::ln))
            }));
        }
        Ok(Box::new(move |c, _| {
            binary::<Float64Type, Float64Type, Float64Type>(&c[0], &c[1], &result, |base, x| {
                x.ln() / base.ln()
            })
        }))
    },
)
.infallible();

//! `POWER`.

use arrow_array::types::Float64Type;

use crate::definition::BuiltIn;
use crate::kernel::primitive::binary;
use crate::signature::{Kind, Returns, Signature};

pub(super) const POWER: BuiltIn = BuiltIn::new(
    "POWER",
    "The first number to the power of the second.",
    &[Signature::new(
        &[Kind::Double, Kind::Double],
        Returns::Double,
    )],
    |args| {
        let result = args.result.to_arrow();
        Ok(Box::new(move |c, _| {
            binary::<Float64Type, Float64Type, Float64Type>(&c[0], &c[1], &result, f64::powf)
        }))
    },
)
.infallible();

//! `BETWEEN`: the value is in a closed range.

use aquifer_types::DataType;

use super::infer::infer;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::Result;
use crate::expression::ResolvedExpr;

pub(super) const BETWEEN: BuiltIn = BuiltIn::with(
    "BETWEEN",
    "TRUE if the first value is neither less than the second nor greater than the third.",
    Inference::Custom(
        &["<COMPARABLE> BETWEEN <COMPARABLE> AND <COMPARABLE>"],
        |arguments| {
            (arguments.len() == 3)
                .then(|| infer(arguments, true))
                .flatten()
        },
    ),
    Implementation::Rewrite(rewrite),
)
.infallible();

fn rewrite(args: &[ResolvedExpr], _: &DataType) -> Result<ResolvedExpr> {
    let [value, low, high] = args else {
        unreachable!("BETWEEN is inferred with three arguments")
    };
    ResolvedExpr::and([
        ResolvedExpr::call(">=", [value.clone(), low.clone()])?,
        ResolvedExpr::call("<=", [value.clone(), high.clone()])?,
    ])
}

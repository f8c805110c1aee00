//! `NULLIF`: NULL for one value, every other value as it is.

use aquifer_types::DataType;

use crate::definition::{BuiltIn, Implementation, Inference, Nulls};
use crate::error::Result;
use crate::expression::ResolvedExpr;
use crate::scalar::find_function;
use crate::signature::Inferred;

pub(super) const NULLIF: BuiltIn = BuiltIn::with(
    "NULLIF",
    "NULL if both values are equal, the first value otherwise.",
    Inference::Custom(&["NULLIF(<COMPARABLE>, <COMPARABLE>)"], |arguments| {
        let [value, _] = arguments else { return None };
        find_function("=").ok()?.infer(arguments)?;
        let arguments = arguments.iter().map(|a| a.data_type.clone()).collect();
        Some(Inferred {
            arguments,
            result: value.data_type.clone(),
        })
    }),
    Implementation::Rewrite(rewrite),
)
.nulls(Nulls::Always)
.infallible();

fn rewrite(args: &[ResolvedExpr], result: &DataType) -> Result<ResolvedExpr> {
    let [value, other] = args else {
        unreachable!("NULLIF is inferred with two arguments")
    };
    Ok(ResolvedExpr::Case {
        branches: vec![(
            ResolvedExpr::call("=", [value.clone(), other.clone()])?,
            ResolvedExpr::null_of(result.clone()),
        )],
        otherwise: Box::new(value.clone()),
        data_type: result.clone(),
    })
}

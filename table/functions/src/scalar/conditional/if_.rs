//! `IF`: one of two values by a condition.

use aquifer_types::{DataType, find_common_type};

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::Result;
use crate::expression::ResolvedExpr;
use crate::signature::{Inferred, Kind};

pub(super) const IF: BuiltIn = BuiltIn::with(
    "IF",
    "The second value if the condition is TRUE, the third otherwise.",
    Inference::Custom(&["IF(BOOLEAN, <COMMON>, <COMMON>)"], |arguments| {
        let [condition, yes, no] = arguments else {
            return None;
        };
        let condition = Kind::Boolean.accept(condition)?;
        let result = find_common_type(&[yes.data_type.clone(), no.data_type.clone()])?;
        let as_result = |t: &DataType| result.clone().with_nullable(t.nullable);
        let arguments = vec![condition, as_result(yes.data_type), as_result(no.data_type)];
        Some(Inferred { arguments, result })
    }),
    Implementation::Rewrite(rewrite),
)
.infallible();

fn rewrite(args: &[ResolvedExpr], result: &DataType) -> Result<ResolvedExpr> {
    let [condition, yes, no] = args else {
        unreachable!("IF is inferred with three arguments")
    };
    Ok(ResolvedExpr::Case {
        branches: vec![(condition.clone(), yes.clone())],
        otherwise: Box::new(no.clone()),
        data_type: result.clone(),
    })
}

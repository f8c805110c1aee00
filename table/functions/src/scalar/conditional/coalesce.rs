//! `COALESCE` and `IFNULL`: the first value that is not NULL.

use aquifer_types::DataType;

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::signature::{Argument, Inferred, common};

fn types(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let common = common(arguments)?;
    // One value that cannot be NULL makes the result one.
    let nullable = arguments.iter().all(|a| a.data_type.nullable);
    let arguments: Vec<DataType> = arguments
        .iter()
        .map(|a| common.clone().with_nullable(a.data_type.nullable))
        .collect();
    Some(Inferred {
        arguments,
        result: common.with_nullable(nullable),
    })
}

pub(super) const COALESCE: BuiltIn = BuiltIn::with(
    "COALESCE",
    "The first value that is not NULL; NULL if all are.",
    Inference::Custom(&["COALESCE(<COMMON>...)"], types),
    Implementation::Coalesce,
)
.infallible();

pub(super) const IFNULL: BuiltIn = BuiltIn::with(
    "IFNULL",
    "The first value, or the second if the first is NULL.",
    Inference::Custom(&["IFNULL(<COMMON>, <COMMON>)"], |arguments| {
        (arguments.len() == 2).then(|| types(arguments)).flatten()
    }),
    Implementation::Coalesce,
)
.infallible();

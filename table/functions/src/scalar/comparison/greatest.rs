//! `GREATEST` and `LEAST`.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_select::zip::zip;

use super::infer::infer;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel};
use crate::error::Result;
use crate::kernel::compare::{Comparison, compare};
use crate::signature::{Argument, Inferred, common};

fn types(arguments: &[Argument<'_>]) -> Option<Inferred> {
    if arguments.is_empty() {
        return None;
    }
    // Other than a comparison this does not read text as another type.
    common(arguments)?;
    let mut inferred = infer(arguments, true)?;
    inferred.result = inferred.arguments[0]
        .clone()
        .with_nullable(inferred.result.nullable);
    Some(inferred)
}

fn kernel(keep: Comparison) -> Result<Kernel> {
    Ok(Box::new(move |columns, context| {
        let mut best = columns[0].clone().into_array(context.rows)?;
        for column in &columns[1..] {
            let next = column.clone().into_array(context.rows)?;
            let (a, b) = (Column::Array(best), Column::Array(next));
            let keeps = compare(keep, &a, &b, context.rows)?.into_array(context.rows)?;
            let keeps = keeps.as_boolean();
            let chosen = zip(keeps, a.array(), b.array())?;
            // One NULL makes the result NULL.
            let nulls = keeps.nulls().cloned();
            let data = chosen.to_data().into_builder().nulls(nulls).build()?;
            best = arrow_array::make_array(data);
        }
        Ok(Column::Array(Arc::clone(&best)))
    }))
}

pub(super) const GREATEST: BuiltIn = BuiltIn::with(
    "GREATEST",
    "The greatest of the values; NULL if one is NULL.",
    Inference::Custom(&["GREATEST(<COMPARABLE>...)"], types),
    Implementation::Kernel(|_| kernel(Comparison::Gt)),
)
.infallible();

pub(super) const LEAST: BuiltIn = BuiltIn::with(
    "LEAST",
    "The least of the values; NULL if one is NULL.",
    Inference::Custom(&["LEAST(<COMPARABLE>...)"], types),
    Implementation::Kernel(|_| kernel(Comparison::Lt)),
)
.infallible();

//! Aggregate functions over columns: one accumulator holds the state of all groups.
//!
//! An [`AggregateDefinition`] makes an [`Accumulator`], which is indexed by dense group ids.
//! Weights are signed multiplicities: a negative weight takes a row back. COUNT, SUM and AVG do
//! that by arithmetic; MIN and MAX keep all values of a group if they must, and one value if rows
//! are only ever added. DISTINCT is a wrapper ([`distinct`]) that forwards a value's first
//! appearance and last disappearance.

mod accumulator;
mod average;
mod collected;
mod count;
mod definition;
mod distinct;
mod extremum;
mod keys;
mod min_max;
mod moments;
mod sum;
mod sums;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use accumulator::Accumulator;
pub use definition::{AggregateDefinition, Retraction};
pub use distinct::distinct;

use aquifer_types::DataType;

use crate::error::{FunctionError, Result};
use crate::signature::{Argument, Inferred};

/// All built-in aggregate functions, sorted by name.
pub const AGGREGATES: &[&dyn AggregateDefinition] = &[
    &sum::SumZero,
    &collected::ARRAY_AGG,
    &average::Average,
    &collected::COLLECT,
    &count::Count,
    &collected::FIRST_VALUE,
    &collected::LAST_VALUE,
    &collected::LISTAGG,
    &min_max::Max,
    &min_max::Min,
    &moments::STDDEV_POP,
    &moments::STDDEV_SAMP,
    &sum::Sum,
    &moments::VAR_POP,
    &moments::VAR_SAMP,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static dyn AggregateDefinition>> =
    LazyLock::new(|| {
        AGGREGATES
            .iter()
            .flat_map(|f| {
                std::iter::once(f.name())
                    .chain(f.aliases().iter().copied())
                    .map(|n| (n, *f))
            })
            .collect()
    });

/// Returns the aggregate function of a name, in whatever case it is written.
///
/// # Errors
/// `function.unknown`.
pub fn find_aggregate(name: &str) -> Result<&'static dyn AggregateDefinition> {
    BY_NAME
        .get(name.to_uppercase().as_str())
        .copied()
        .ok_or_else(|| FunctionError::UnknownFunction {
            name: name.to_owned(),
            near: Vec::new(),
        })
}

/// Returns an aggregate function and the types of a call of it: those that the arguments must be
/// cast to, and the result's. The result is nullable if an argument is; over no rows at all it is
/// NULL if [`AggregateDefinition::is_null_when_empty`] says so.
///
/// # Errors
/// `function.unknown` or `function.invalid_arguments`.
pub fn resolve_aggregate(
    name: &str,
    arguments: &[DataType],
) -> Result<(&'static dyn AggregateDefinition, Inferred)> {
    let function = find_aggregate(name)?;
    let typed: Vec<Argument<'_>> = arguments
        .iter()
        .map(|data_type| Argument {
            data_type,
            literal: None,
        })
        .collect();
    let inferred = function
        .infer(&typed)
        .ok_or_else(|| FunctionError::InvalidArguments {
            function: function.name().to_owned(),
            arguments: crate::expression::join_types(arguments),
            signatures: function.signatures(),
        })?;
    Ok((function, inferred))
}

//! `IN (...)`: the value equals one of a list.
//!
//! A list of literals becomes a hash set of their row form once; other lists are compared one by
//! one. By SQL's rule the answer is NULL, not FALSE, if nothing matches but something was NULL.

use std::collections::HashSet;
use std::sync::Arc;

use aquifer_types::Value;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::infer::infer;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::Result;
use crate::kernel::compare::{Comparison, compare};

pub(super) const IN: BuiltIn = BuiltIn::with(
    "IN",
    "TRUE if the first value equals one of the others; NULL if none matches but one is NULL.",
    Inference::Custom(&["<COMPARABLE> IN (<COMPARABLE>...)"], |arguments| {
        (arguments.len() >= 2)
            .then(|| infer(arguments, false))
            .flatten()
    }),
    Implementation::Kernel(kernel),
)
.infallible();

/// Up to this many values a vectorised comparison each is faster than hashing every row.
const COMPARED_MAX: usize = 4;

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let text_list = args.types[0].is_string() && args.literals[1..].iter().all(Option::is_some);
    if text_list && args.types.len() - 1 > COMPARED_MAX {
        let has_null = args.literals[1..].iter().flatten().any(Value::is_null);
        let set: HashSet<String> = args.literals[1..]
            .iter()
            .flatten()
            .filter_map(|v| v.as_str().map(str::to_owned))
            .collect();
        return Ok(Box::new(move |columns, context| {
            if columns[0].is_null_scalar() {
                return Ok(Column::null(&arrow_schema::DataType::Boolean));
            }
            let texts = columns[0].array().as_string::<i32>();
            let scalar = columns[0].is_scalar();
            let found = BooleanBuffer::collect_bool(context.rows, |i| {
                let i = if scalar { 0 } else { i };
                texts.is_valid(i) && set.contains(texts.value(i))
            });
            let nulls = if scalar { None } else { texts.nulls().cloned() };
            let nulls = if has_null {
                NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::new(found.clone())))
            } else {
                nulls
            };
            Ok(Column::Array(Arc::new(BooleanArray::new(found, nulls))))
        }));
    }
    Ok(Box::new(|columns, context| {
        let (value, list) = (&columns[0], &columns[1..]);
        let mut found: Option<BooleanArray> = None;
        for candidate in list {
            let equal = compare(Comparison::Eq, value, candidate, context.rows)?;
            let equal = equal.into_array(context.rows)?.as_boolean().clone();
            found = Some(match found {
                None => equal,
                Some(found) => arrow_arith::boolean::or_kleene(&found, &equal)?,
            });
        }
        let found = found.unwrap_or_else(|| BooleanArray::from(vec![false; context.rows]));
        Ok(Column::Array(Arc::new(found)))
    }))
}

//! `ELT`: the value at a position of a list of values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, new_null_array};
use arrow_select::interleave::interleave;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::signature::{Inferred, Kind, common};

pub(super) const ELT: BuiltIn = BuiltIn::with(
    "ELT",
    "The value at a position from 1 of those that follow; NULL if there is none.",
    Inference::Custom(&["ELT(<INTEGER>, <COMMON>...)"], |arguments| {
        let (index, values) = arguments.split_first()?;
        if values.is_empty()
            || index
                .literal
                .and_then(|v| v.as_i64())
                .is_some_and(|i| i < 0)
        {
            return None;
        }
        let value = common(values)?;
        if !value.is_string() && !value.logical.is_binary() {
            return None;
        }
        let types = std::iter::once(Kind::BigInt.accept(index)?)
            .chain(
                values
                    .iter()
                    .map(|v| value.clone().with_nullable(v.data_type.nullable)),
            )
            .collect();
        Some(Inferred {
            arguments: types,
            result: value.null(),
        })
    }),
    Implementation::Kernel(|args| {
        let arrow = args.result.to_arrow();
        Ok(Box::new(move |columns, context| {
            let null = new_null_array(&arrow, 1);
            let sources: Vec<&dyn Array> = std::iter::once(null.as_ref())
                .chain(columns[1..].iter().map(|c| c.array().as_ref()))
                .collect();
            let indices = columns[0].array().as_primitive::<Int64Type>();
            let places: Vec<(usize, usize)> = (0..context.rows)
                .map(|row| {
                    let at = columns[0].position(row);
                    let index = if indices.is_valid(at) {
                        indices.value(at)
                    } else {
                        0
                    };
                    match usize::try_from(index) {
                        Ok(i) if i > 0 && i < columns.len() => (i, columns[i].position(row)),
                        _ => (0, 0),
                    }
                })
                .collect();
            Ok(Column::Array(Arc::clone(&interleave(&sources, &places)?)))
        }))
    }),
)
.infallible();

//! `CARDINALITY`.

use aquifer_types::{DataTypes, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::{Array, Int32Array};
use std::sync::Arc;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::signature::Inferred;

pub(super) const CARDINALITY: BuiltIn = BuiltIn::with(
    "CARDINALITY",
    "The number of elements of an array, map or multiset.",
    Inference::Custom(&["CARDINALITY(<COLLECTION>)"], |arguments| {
        let [one] = arguments else { return None };
        let taken = matches!(
            one.data_type.logical,
            LogicalType::Array(_) | LogicalType::Map(..) | LogicalType::Multiset(_)
        );
        taken.then(|| Inferred {
            arguments: vec![one.data_type.clone()],
            result: DataTypes::int().with_nullable(one.data_type.nullable),
        })
    }),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, _| {
            let array = columns[0].array();
            let offsets = match array.as_list_opt::<i32>() {
                Some(list) => list.offsets(),
                None => array.as_map().offsets(),
            };
            let lengths: Vec<i32> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let lengths = Arc::new(Int32Array::new(lengths.into(), array.nulls().cloned()));
            Ok(if columns[0].is_scalar() {
                Column::Scalar(lengths)
            } else {
                Column::Array(lengths)
            })
        }))
    }),
)
.infallible();

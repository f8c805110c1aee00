//! `ELEMENT`: the only element of an array.

use aquifer_types::LogicalType;
use arrow_array::cast::AsArray;
use arrow_array::{Array, UInt32Array};
use arrow_select::take::take;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::{FunctionError, Result};
use crate::signature::Inferred;

pub(super) const ELEMENT: BuiltIn = BuiltIn::with(
    "ELEMENT",
    "The only element of an array; NULL if it is empty, an error if there are more.",
    Inference::Custom(&["ELEMENT(<ARRAY>)"], |arguments| {
        let [one] = arguments else { return None };
        let LogicalType::Array(element) = &one.data_type.logical else {
            return None;
        };
        Some(Inferred {
            arguments: vec![one.data_type.clone()],
            result: element.as_ref().clone().null(),
        })
    }),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, context| {
            let list = columns[0].array().as_list::<i32>();
            let places: UInt32Array = (0..context.rows)
                .map(|row| {
                    let at = columns[0].position(row);
                    match list.value_length(at) {
                        _ if list.is_null(at) => Ok(None),
                        0 => Ok(None),
                        1 => Ok(Some(list.value_offsets()[at] as u32)),
                        n => Err(FunctionError::runtime(format!(
                            "the array has {n} elements, not one"
                        ))),
                    }
                })
                .collect::<Result<_>>()?;
            Ok(Column::Array(take(list.values(), &places, None)?))
        }))
    }),
);

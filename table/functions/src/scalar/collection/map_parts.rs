//! `MAP_KEYS`, `MAP_VALUES` and `MAP_ENTRIES`.

use std::sync::Arc;

use aquifer_types::{DataType, DataTypes, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_schema::DataType as ArrowType;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::signature::{Argument, Inferred};

fn infer(
    arguments: &[Argument<'_>],
    element: fn(&DataType, &DataType) -> DataType,
) -> Option<Inferred> {
    let [map] = arguments else { return None };
    let LogicalType::Map(key, value) = &map.data_type.logical else {
        return None;
    };
    let result = DataTypes::array(element(key, value)).with_nullable(map.data_type.nullable);
    Some(Inferred {
        arguments: vec![map.data_type.clone()],
        result,
    })
}

/// Makes an array column over the entries of a map column.
fn kernel(
    args: &KernelArgs<'_>,
    part: fn(&StructArray, &ArrowType) -> Result<ArrayRef>,
) -> Result<Kernel> {
    let ArrowType::List(field) = args.result.to_arrow() else {
        return Err(FunctionError::runtime("the parts of a map are an array"));
    };
    Ok(Box::new(move |columns, _| {
        let map = columns[0].array().as_map();
        let values = part(map.entries(), field.data_type())?;
        let list = ListArray::try_new(
            field.clone(),
            map.offsets().clone(),
            values,
            map.nulls().cloned(),
        )?;
        Ok(if columns[0].is_scalar() {
            Column::Scalar(Arc::new(list))
        } else {
            Column::Array(Arc::new(list))
        })
    }))
}

pub(super) const MAP_KEYS: BuiltIn = BuiltIn::with(
    "MAP_KEYS",
    "The keys of a map.",
    Inference::Custom(&["MAP_KEYS(<MAP>)"], |a| infer(a, |key, _| key.clone())),
    Implementation::Kernel(|args| kernel(args, |entries, _| Ok(entries.column(0).clone()))),
)
.infallible();

pub(super) const MAP_VALUES: BuiltIn = BuiltIn::with(
    "MAP_VALUES",
    "The values of a map.",
    Inference::Custom(&["MAP_VALUES(<MAP>)"], |a| {
        infer(a, |_, value| value.clone())
    }),
    Implementation::Kernel(|args| kernel(args, |entries, _| Ok(entries.column(1).clone()))),
)
.infallible();

pub(super) const MAP_ENTRIES: BuiltIn = BuiltIn::with(
    "MAP_ENTRIES",
    "The entries of a map as rows of key and value.",
    Inference::Custom(&["MAP_ENTRIES(<MAP>)"], |a| {
        infer(a, |key, value| {
            DataTypes::row([
                DataTypes::field("key", key.clone()),
                DataTypes::field("value", value.clone()),
            ])
        })
    }),
    Implementation::Kernel(|args| {
        kernel(args, |entries, element| {
            let ArrowType::Struct(fields) = element else {
                return Err(FunctionError::runtime("the entries of a map are rows"));
            };
            let rows = StructArray::try_new(fields.clone(), entries.columns().to_vec(), None)?;
            Ok(Arc::new(rows))
        })
    }),
)
.infallible();

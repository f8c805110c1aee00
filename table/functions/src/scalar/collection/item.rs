//! `collection[key]`: an element of an array by position from one, or a value of a map by key.

use aquifer_types::{DataType, Field, LogicalType, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, UInt32Array};
use arrow_ord::ord::make_comparator;
use arrow_schema::SortOptions;
use arrow_select::take::take;

use super::field::child;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::signature::{Argument, Inferred, Kind};

pub(super) const ITEM: BuiltIn = BuiltIn::with(
    "ITEM",
    "The element of an array at a position from 1, the value of a map for a key, or the field of a row by position from 1 or by name; NULL if there is none.",
    Inference::Custom(&["<ARRAY>[INT]", "<MAP>[<KEY>]", "<ROW>[INT]"], infer),
    Implementation::Kernel(kernel),
);

fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [collection, key] = arguments else {
        return None;
    };
    let (key, result) = match &collection.data_type.logical {
        LogicalType::Array(element) => {
            if let Some(Value::Int(position)) = key.literal
                && *position <= 0
            {
                return None;
            }
            (Kind::Int.accept(key)?, element.as_ref().clone().null())
        }
        LogicalType::Map(of, value) => {
            let wanted = DataType::clone(of).with_nullable(key.data_type.nullable);
            let possible = aquifer_types::supports_implicit_cast(key.data_type, &wanted)
                || (key.data_type.is_string() && wanted.is_string());
            (possible.then_some(wanted)?, value.as_ref().clone().null())
        }
        LogicalType::Row(fields) => {
            let field = fields
                .get(field_index(fields, key.literal?)?)?
                .data_type
                .clone();
            let nullable = field.nullable || collection.data_type.nullable;
            (key.data_type.clone(), field.with_nullable(nullable))
        }
        _ => return None,
    };
    Some(Inferred {
        arguments: vec![collection.data_type.clone(), key],
        result,
    })
}

/// The index of a field by position from one, or by name.
fn field_index(fields: &[Field], key: &Value) -> Option<usize> {
    match key {
        Value::String(name) => fields.iter().position(|f| f.name == *name),
        position => usize::try_from(position.as_i64()?).ok()?.checked_sub(1),
    }
}

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    match &args.types[0].logical {
        LogicalType::Array(_) => Ok(Box::new(|columns, context| {
            let list = columns[0].array().as_list::<i32>();
            let positions = columns[1].array().as_primitive::<Int32Type>();
            let places: UInt32Array = (0..context.rows)
                .map(|row| {
                    let (at, key) = (columns[0].position(row), columns[1].position(row));
                    if list.is_null(at) || positions.is_null(key) {
                        return None;
                    }
                    let index = positions.value(key).checked_sub(1)?;
                    let inside = (0..list.value_length(at)).contains(&index);
                    inside.then(|| (list.value_offsets()[at] + index) as u32)
                })
                .collect();
            Ok(Column::Array(take(list.values(), &places, None)?))
        })),
        LogicalType::Map(..) => Ok(Box::new(|columns, context| {
            let map = columns[0].array().as_map();
            let keys = columns[1].array();
            let order = make_comparator(map.keys(), keys, SortOptions::default())?;
            let places: UInt32Array = (0..context.rows)
                .map(|row| {
                    let (at, key) = (columns[0].position(row), columns[1].position(row));
                    if map.is_null(at) || keys.is_null(key) {
                        return None;
                    }
                    let offsets = map.value_offsets();
                    let mut entries = offsets[at]..offsets[at + 1];
                    entries
                        .find(|i| order(*i as usize, key).is_eq())
                        .map(|i| i as u32)
                })
                .collect();
            Ok(Column::Array(take(map.values(), &places, None)?))
        })),
        LogicalType::Row(fields) => {
            let index = args.literals[1]
                .as_ref()
                .and_then(|key| field_index(fields, key))
                .ok_or_else(|| FunctionError::runtime("the row has no such field"))?;
            Ok(Box::new(move |columns, _| {
                let part = child(columns[0].array(), index)?;
                Ok(if columns[0].is_scalar() {
                    Column::Scalar(part)
                } else {
                    Column::Array(part)
                })
            }))
        }
        _ => Err(FunctionError::runtime("only collections have items")),
    }
}

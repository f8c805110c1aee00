//! `MAP[key, value, ..]`: of equal keys the last one counts.

use std::sync::Arc;

use aquifer_types::{DataTypes, LogicalType};
use arrow_array::{Array, MapArray, StructArray, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType as ArrowType, SortOptions};
use arrow_select::take::take;

use super::array::rows_of_values;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::signature::{Argument, Inferred, common};

pub(super) const MAP: BuiltIn = BuiltIn::with(
    "MAP",
    "A map of keys to values, given in turn.",
    Inference::Custom(&["MAP[<COMMON>, <COMMON>, ...]"], |arguments| {
        if arguments.is_empty() || arguments.len() % 2 == 1 {
            return None;
        }
        let keys: Vec<Argument<'_>> = arguments.iter().step_by(2).copied().collect();
        let values: Vec<Argument<'_>> = arguments.iter().skip(1).step_by(2).copied().collect();
        let (key, value) = (common(&keys)?, common(&values)?);
        let types = arguments
            .iter()
            .enumerate()
            .map(|(i, a)| {
                let kind = if i % 2 == 0 { &key } else { &value };
                kind.clone().with_nullable(a.data_type.nullable)
            })
            .collect();
        Some(Inferred {
            arguments: types,
            result: DataTypes::map(key, value).not_null(),
        })
    }),
    Implementation::Kernel(kernel),
);

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let LogicalType::Map(key, value) = &args.result.logical else {
        unreachable!("MAP is inferred as a map")
    };
    let (key, value) = (key.to_arrow(), value.to_arrow());
    let ArrowType::Map(entries, ordered) = args.result.to_arrow() else {
        unreachable!("MAP is a map")
    };
    let ArrowType::Struct(fields) = entries.data_type().clone() else {
        unreachable!("map entries are a struct")
    };
    Ok(Box::new(move |columns, context| {
        let keys: Vec<&Column> = columns.iter().step_by(2).collect();
        let values: Vec<&Column> = columns.iter().skip(1).step_by(2).collect();
        let pairs = keys.len();
        let keys = rows_of_values(&keys, context.rows, &key)?;
        if keys.logical_null_count() > 0 {
            return Err(FunctionError::runtime("a key of a map is NULL"));
        }
        let values = rows_of_values(&values, context.rows, &value)?;
        let order = make_comparator(&keys, &keys, SortOptions::default())?;
        let mut kept: Vec<u32> = Vec::with_capacity(keys.len());
        let mut lengths = Vec::with_capacity(context.rows);
        for row in 0..context.rows {
            let range = row * pairs..(row + 1) * pairs;
            let before = kept.len();
            for i in range.clone() {
                if !(i + 1..range.end).any(|later| order(i, later).is_eq()) {
                    kept.push(i as u32);
                }
            }
            lengths.push(kept.len() - before);
        }
        let kept = UInt32Array::from(kept);
        let columns = vec![take(&keys, &kept, None)?, take(&values, &kept, None)?];
        let pairs = StructArray::try_new(fields.clone(), columns, None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let map = MapArray::try_new(entries.clone(), offsets, pairs, None, ordered)?;
        Ok(Column::Array(Arc::new(map)))
    }))
}

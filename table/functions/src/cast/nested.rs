//! Casts of arrays, maps, multisets and rows, part by part.

use std::sync::Arc;

use aquifer_types::{DataType, DataTypes, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_schema::DataType as ArrowType;

use super::{CastContext, CastFn, by_rows};
use crate::error::{FunctionError, Result};

pub(super) fn compile(from: &DataType, to: &DataType) -> Result<CastFn> {
    let strict = parts(from, to)?;
    let to = to.clone();
    Ok(Box::new(move |array, context| {
        let strictly = CastContext {
            try_: false,
            ..*context
        };
        if context.try_ {
            by_rows(array, &to, |part| strict(part, &strictly))
        } else {
            strict(array, &strictly)
        }
    }))
}

fn parts(from: &DataType, to: &DataType) -> Result<CastFn> {
    use LogicalType as T;
    let int = DataTypes::int();
    match (&from.logical, &to.logical) {
        (T::Array(a), T::Array(b)) => {
            let element = super::compile(a, b)?;
            let ArrowType::List(field) = to.to_arrow() else {
                unreachable!("ARRAY is a list")
            };
            Ok(Box::new(move |array, context| {
                let list = array.as_list::<i32>();
                // Only the elements of this slice: others may not even be convertible.
                let (values, offsets) = used(list.values(), list.offsets());
                let values = element(&values, context)?;
                let list =
                    ListArray::try_new(field.clone(), offsets, values, list.nulls().cloned())?;
                Ok(Arc::new(list) as ArrayRef)
            }))
        }
        (T::Map(k, v), T::Map(l, w)) => map(k, v, l, w, to),
        (T::Multiset(a), T::Multiset(b)) => map(a, &int, b, &int, to),
        (T::Row(a), T::Row(b)) => {
            let fields = a
                .iter()
                .zip(b)
                .map(|(x, y)| super::compile(&x.data_type, &y.data_type))
                .collect::<Result<Vec<_>>>()?;
            let ArrowType::Struct(names) = to.to_arrow() else {
                unreachable!("ROW is a struct")
            };
            Ok(Box::new(move |array, context| {
                let rows = array.as_struct();
                let columns = rows
                    .columns()
                    .iter()
                    .zip(&fields)
                    .map(|(column, cast)| cast(column, context))
                    .collect::<Result<Vec<_>>>()?;
                let rows = StructArray::try_new_with_length(
                    names.clone(),
                    columns,
                    rows.nulls().cloned(),
                    rows.len(),
                )?;
                Ok(Arc::new(rows) as ArrayRef)
            }))
        }
        _ => Err(FunctionError::UnsupportedCast {
            from: from.to_string(),
            to: to.to_string(),
        }),
    }
}

type Offsets = arrow_buffer::OffsetBuffer<i32>;

/// Returns the child's part that the offsets cover, and the offsets counted from there.
fn used(child: &ArrayRef, offsets: &Offsets) -> (ArrayRef, Offsets) {
    let first = offsets[0];
    let last = offsets[offsets.len() - 1];
    let part = child.slice(first as usize, (last - first) as usize);
    let moved: Vec<i32> = offsets.iter().map(|o| o - first).collect();
    (part, Offsets::new(moved.into()))
}

fn map(k: &DataType, v: &DataType, l: &DataType, w: &DataType, to: &DataType) -> Result<CastFn> {
    let key = super::compile(k, l)?;
    let value = super::compile(v, w)?;
    let ArrowType::Map(entries, ordered) = to.to_arrow() else {
        unreachable!("MAP is a map")
    };
    let ArrowType::Struct(fields) = entries.data_type().clone() else {
        unreachable!("map entries are a struct")
    };
    Ok(Box::new(move |array, context| {
        let map = array.as_map();
        let (keys, offsets) = used(map.keys(), map.offsets());
        let (values, _) = used(map.values(), map.offsets());
        let columns = vec![key(&keys, context)?, value(&values, context)?];
        let pairs = StructArray::try_new(fields.clone(), columns, None)?;
        let map = MapArray::try_new(
            entries.clone(),
            offsets,
            pairs,
            map.nulls().cloned(),
            ordered,
        )?;
        Ok(Arc::new(map) as ArrayRef)
    }))
}

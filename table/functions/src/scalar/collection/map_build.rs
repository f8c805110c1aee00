//! `MAP_FROM_ARRAYS`, `MAP_UNION` and `STR_TO_MAP`. Of equal keys the last one counts.

use std::sync::Arc;

use aquifer_types::{DataType, DataTypes, LogicalType};
use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use arrow_select::interleave::interleave;

use super::lists::{Lists, comparator, element_type};
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Nulls};
use crate::error::{FunctionError, Result};
use crate::signature::{Inferred, Kind, common};

type Place = (usize, usize);

/// Builds a map column from places of keys and values.
fn build(
    result: &DataType,
    keys: &[&ArrayRef],
    values: &[&ArrayRef],
    rows: &[Option<Vec<(Place, Place)>>],
) -> Result<Column> {
    let ArrowType::Map(entries, ordered) = result.to_arrow() else {
        return Err(FunctionError::runtime("the result is no map"));
    };
    let ArrowType::Struct(fields) = entries.data_type().clone() else {
        return Err(FunctionError::runtime("map entries are rows"));
    };
    let part = |sources: &[&ArrayRef], places: Vec<Place>| {
        let sources: Vec<&dyn Array> = sources.iter().map(|s| s.as_ref()).collect();
        interleave(&sources, &places)
    };
    let pairs = || rows.iter().flatten().flatten();
    let keys = part(keys, pairs().map(|(key, _)| *key).collect())?;
    let values = part(values, pairs().map(|(_, value)| *value).collect())?;
    if keys.logical_null_count() > 0 {
        return Err(FunctionError::runtime("a key of a map is NULL"));
    }
    let mut nulls = NullBufferBuilder::new(rows.len());
    rows.iter().for_each(|row| nulls.append(row.is_some()));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|r| r.as_ref().map_or(0, Vec::len)));
    let pairs = StructArray::try_new(fields, vec![keys, values], None)?;
    let map = MapArray::try_new(entries, offsets, pairs, nulls.finish(), ordered)?;
    Ok(Column::Array(Arc::new(map)))
}

pub(super) const MAP_FROM_ARRAYS: BuiltIn = BuiltIn::with(
    "MAP_FROM_ARRAYS",
    "A map of the elements of one array to those of another of the same length.",
    Inference::Custom(&["MAP_FROM_ARRAYS(<ARRAY>, <ARRAY>)"], |arguments| {
        let [keys, values] = arguments else {
            return None;
        };
        let result = DataTypes::map(element_type(keys)?.clone(), element_type(values)?.clone());
        let nullable = keys.data_type.nullable || values.data_type.nullable;
        Some(Inferred {
            arguments: vec![keys.data_type.clone(), values.data_type.clone()],
            result: result.with_nullable(nullable),
        })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let (keys, values) = (Lists::of(&columns[0]), Lists::of(&columns[1]));
            let order = comparator(keys.elements(), keys.elements())?;
            let rows = (0..context.rows)
                .map(|row| {
                    let (Some(k), Some(v)) = (keys.range(row), values.range(row)) else {
                        return Ok(None);
                    };
                    if k.len() != v.len() {
                        return Err(FunctionError::runtime(format!(
                            "{} keys but {} values were given",
                            k.len(),
                            v.len()
                        )));
                    }
                    let last = |i: usize| !(i + 1..k.end).any(|j| order(i, j).is_eq());
                    let pairs = k.clone().zip(v).filter(|(i, _)| last(*i));
                    Ok(Some(pairs.map(|(i, j)| ((0, i), (0, j))).collect()))
                })
                .collect::<Result<Vec<_>>>()?;
            build(&result, &[keys.elements()], &[values.elements()], &rows)
        }))
    }),
);

pub(super) const MAP_UNION: BuiltIn = BuiltIn::with(
    "MAP_UNION",
    "A map of the entries of all maps; NULL if one is NULL.",
    Inference::Custom(&["MAP_UNION(<MAP>...)"], |arguments| {
        let is_map = |t: &DataType| matches!(t.logical, LogicalType::Map(..));
        if arguments.is_empty() || !arguments.iter().all(|a| is_map(a.data_type)) {
            return None;
        }
        let common = common(arguments)?;
        let types = arguments
            .iter()
            .map(|a| common.clone().with_nullable(a.data_type.nullable))
            .collect();
        Some(Inferred {
            arguments: types,
            result: common,
        })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let maps: Vec<&MapArray> = columns.iter().map(|c| c.array().as_map()).collect();
            let mut orders = Vec::new();
            for a in &maps {
                let of_a: Result<Vec<_>> = maps
                    .iter()
                    .map(|b| comparator(a.keys(), b.keys()))
                    .collect();
                orders.push(of_a?);
            }
            let rows: Vec<Option<Vec<(Place, Place)>>> = (0..context.rows)
                .map(|row| {
                    let mut pairs: Vec<(Place, Place)> = Vec::new();
                    for (source, map) in maps.iter().enumerate() {
                        let at = columns[source].position(row);
                        if map.is_null(at) {
                            return None;
                        }
                        let offsets = map.value_offsets();
                        for i in offsets[at] as usize..offsets[at + 1] as usize {
                            let known = pairs
                                .iter_mut()
                                .find(|((s, j), _)| orders[*s][source](*j, i).is_eq());
                            match known {
                                Some(pair) => pair.1 = (source, i),
                                None => pairs.push(((source, i), (source, i))),
                            }
                        }
                    }
                    Some(pairs)
                })
                .collect();
            let keys: Vec<&ArrayRef> = maps.iter().map(|m| m.keys()).collect();
            let values: Vec<&ArrayRef> = maps.iter().map(|m| m.values()).collect();
            build(&result, &keys, &values, &rows)
        }))
    }),
);

pub(super) const STR_TO_MAP: BuiltIn = BuiltIn::with(
    "STR_TO_MAP",
    "A map of the text's parts, which a separator (`,`) parts, of key and value, which another (`=`) parts.",
    Inference::Custom(
        &[
            "STR_TO_MAP(<CHARACTER_STRING>)",
            "STR_TO_MAP(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)",
        ],
        |arguments| {
            if !matches!(arguments.len(), 1 | 3) {
                return None;
            }
            let types = arguments.iter().map(|a| Kind::Text.accept(a)).collect::<Option<_>>()?;
            let result = DataTypes::map(DataTypes::string(), DataTypes::string());
            Some(Inferred { arguments: types, result })
        },
    ),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, context| {
            let texts: Vec<_> = columns.iter().map(|c| c.array().as_string::<i32>()).collect();
            let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
            for row in 0..context.rows {
                let part = |i: usize, default: &'static str| match texts.get(i) {
                    None => Some(default),
                    Some(text) => {
                        let at = columns[i].position(row);
                        text.is_valid(at).then(|| text.value(at))
                    }
                };
                let (Some(text), Some(between), Some(within)) =
                    (part(0, ""), part(1, ","), part(2, "="))
                else {
                    builder.append(false)?;
                    continue;
                };
                let mut pairs: Vec<(&str, Option<&str>)> = Vec::new();
                for pair in text.split(between) {
                    let (key, value) = match pair.split_once(within) {
                        Some((key, value)) => (key, Some(value)),
                        None => (pair, None),
                    };
                    match pairs.iter_mut().find(|(k, _)| *k == key) {
                        Some(known) => known.1 = value,
                        None => pairs.push((key, value)),
                    }
                }
                for (key, value) in pairs {
                    builder.keys().append_value(key);
                    builder.values().append_option(value);
                }
                builder.append(true)?;
            }
            Ok(Column::Array(Arc::new(builder.finish())))
        }))
    }),
)
.nulls(Nulls::Propagate);

//! Arrays, maps and rows: their construction, their parts, and functions on them.

use crate::definition::BuiltIn;

mod array;
mod array_add;
mod array_find;
mod array_join;
mod array_order;
mod array_sets;
mod cardinality;
mod element;
mod field;
mod item;
mod lists;
mod map;
mod map_build;
mod map_parts;
mod row;
mod split;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    array::ARRAY,
    array_add::ARRAY_APPEND,
    array_add::ARRAY_CONCAT,
    array_find::ARRAY_CONTAINS,
    array_sets::ARRAY_DISTINCT,
    array_sets::ARRAY_EXCEPT,
    array_sets::ARRAY_INTERSECT,
    array_join::ARRAY_JOIN,
    array_order::ARRAY_MAX,
    array_order::ARRAY_MIN,
    array_find::ARRAY_POSITION,
    array_add::ARRAY_PREPEND,
    array_find::ARRAY_REMOVE,
    array_order::ARRAY_REVERSE,
    array_order::ARRAY_SLICE,
    array_order::ARRAY_SORT,
    array_sets::ARRAY_UNION,
    cardinality::CARDINALITY,
    element::ELEMENT,
    field::FIELD,
    item::ITEM,
    map::MAP,
    map_parts::MAP_ENTRIES,
    map_build::MAP_FROM_ARRAYS,
    map_parts::MAP_KEYS,
    map_build::MAP_UNION,
    map_parts::MAP_VALUES,
    row::ROW,
    split::SPLIT,
    map_build::STR_TO_MAP,
];

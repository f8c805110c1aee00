//! Construction of arrays, maps and rows, and access to their parts.

use crate::definition::BuiltIn;

mod array;
mod cardinality;
mod element;
mod field;
mod item;
mod map;
mod row;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    array::ARRAY,
    cardinality::CARDINALITY,
    element::ELEMENT,
    field::FIELD,
    item::ITEM,
    map::MAP,
    row::ROW,
];

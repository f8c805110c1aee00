//! Arrays built element by element from the elements of others.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use aquifer_types::{DataType, DataTypes, LogicalType, supports_implicit_cast};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType as ArrowType, SortOptions};
use arrow_select::interleave::interleave;

use crate::column::Column;
use crate::error::{FunctionError, Result};
use crate::signature::{Argument, Inferred, Kind};

/// An array column and where its rows' elements are.
pub(super) struct Lists<'a> {
    column: &'a Column,
    list: &'a ListArray,
}

impl<'a> Lists<'a> {
    pub(super) fn of(column: &'a Column) -> Self {
        Self {
            column,
            list: column.array().as_list(),
        }
    }

    /// The elements of all rows.
    pub(super) fn elements(&self) -> &'a ArrayRef {
        self.list.values()
    }

    /// The places of a row's elements; nothing if the row is NULL.
    pub(super) fn range(&self, row: usize) -> Option<Range<usize>> {
        let at = self.column.position(row);
        let offsets = self.list.value_offsets();
        self.list
            .is_valid(at)
            .then(|| offsets[at] as usize..offsets[at + 1] as usize)
    }
}

/// An order of the elements of two columns, in which NULL equals NULL and comes first.
pub(super) type Comparator = Box<dyn Fn(usize, usize) -> Ordering + Send + Sync>;

pub(super) fn comparator(a: &ArrayRef, b: &ArrayRef) -> Result<Comparator> {
    Ok(make_comparator(a, b, SortOptions::default())?)
}

/// Builds an array column: `f` appends the places (source, index) of a row's elements and says
/// whether the row is not NULL.
pub(super) fn build(
    result: &DataType,
    rows: usize,
    sources: &[&ArrayRef],
    mut f: impl FnMut(usize, &mut Vec<(usize, usize)>) -> Result<bool>,
) -> Result<Column> {
    let ArrowType::List(field) = result.to_arrow() else {
        return Err(FunctionError::runtime("the result is no array"));
    };
    let mut places = Vec::new();
    let mut lengths = Vec::with_capacity(rows);
    let mut nulls = NullBufferBuilder::new(rows);
    for row in 0..rows {
        let before = places.len();
        nulls.append(f(row, &mut places)?);
        lengths.push(places.len() - before);
    }
    if i32::try_from(places.len()).is_err() {
        return Err(FunctionError::runtime(
            "an array column would have more than 2^31 elements",
        ));
    }
    let arrays: Vec<&dyn Array> = sources.iter().map(|s| s.as_ref()).collect();
    let values = interleave(&arrays, &places)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    let list = ListArray::try_new(field, offsets, values, nulls.finish())?;
    Ok(Column::Array(Arc::new(list)))
}

/// The element type of an array argument.
pub(super) fn element_type<'a>(argument: &Argument<'a>) -> Option<&'a DataType> {
    match &argument.data_type.logical {
        LogicalType::Array(element) => Some(element),
        _ => None,
    }
}

/// Types of an array and a value that is brought to its elements' type.
pub(super) fn array_and_element(
    array: &Argument<'_>,
    value: &Argument<'_>,
) -> Option<Vec<DataType>> {
    let element = element_type(array)?;
    let wanted = element.clone().null();
    let is_text = wanted.is_string() && value.data_type.is_string();
    if !is_text && !supports_implicit_cast(value.data_type, &wanted) {
        return None;
    }
    let value = wanted.with_nullable(value.data_type.nullable);
    Some(vec![array.data_type.clone(), value])
}

/// Types of some arrays that are brought to their common type.
pub(super) fn arrays(arguments: &[Argument<'_>]) -> Option<Inferred> {
    if arguments.is_empty() || arguments.iter().any(|a| element_type(a).is_none()) {
        return None;
    }
    let common = crate::signature::common(arguments)?;
    let types = arguments
        .iter()
        .map(|a| common.clone().with_nullable(a.data_type.nullable))
        .collect();
    Some(Inferred {
        arguments: types,
        result: common,
    })
}

/// Types of one array, which is the result's type too.
pub(super) fn one_array(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [array] = arguments else { return None };
    element_type(array)?;
    Some(Inferred {
        arguments: vec![array.data_type.clone()],
        result: array.data_type.clone(),
    })
}

/// The array of a kind of text.
pub(super) fn strings(argument: &Argument<'_>) -> Option<DataType> {
    let element = element_type(argument)?;
    if element.is_string() {
        return Some(argument.data_type.clone());
    }
    let text = Kind::Text.accept(&Argument {
        data_type: element,
        literal: None,
    })?;
    Some(DataTypes::array(text).with_nullable(argument.data_type.nullable))
}

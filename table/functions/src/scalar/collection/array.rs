//! `ARRAY[..]`.

use std::sync::Arc;

use aquifer_types::{DataTypes, LogicalType};
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType as ArrowType;
use arrow_select::interleave::interleave;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::signature::{Inferred, common};

pub(super) const ARRAY: BuiltIn = BuiltIn::with(
    "ARRAY",
    "An array of the values.",
    Inference::Custom(&["ARRAY[<COMMON>...]"], |arguments| {
        let element = if arguments.is_empty() {
            DataTypes::null()
        } else {
            common(arguments)?
        };
        let types = arguments
            .iter()
            .map(|a| element.clone().with_nullable(a.data_type.nullable))
            .collect();
        Some(Inferred {
            arguments: types,
            result: DataTypes::array(element).not_null(),
        })
    }),
    Implementation::Kernel(kernel),
)
.infallible();

/// Returns for each row the columns' values one after the other.
pub(super) fn rows_of_values(
    columns: &[&Column],
    rows: usize,
    empty: &ArrowType,
) -> Result<ArrayRef> {
    if columns.is_empty() {
        return Ok(arrow_array::new_empty_array(empty));
    }
    let arrays: Vec<&dyn Array> = columns.iter().map(|c| c.array().as_ref()).collect();
    let places: Vec<(usize, usize)> = (0..rows)
        .flat_map(|row| {
            columns
                .iter()
                .enumerate()
                .map(move |(i, c)| (i, c.position(row)))
        })
        .collect();
    Ok(interleave(&arrays, &places)?)
}

/// Returns the offsets of lists of equal length.
pub(super) fn equal_offsets(rows: usize, length: usize) -> Result<OffsetBuffer<i32>> {
    if i32::try_from(rows.saturating_mul(length)).is_err() {
        return Err(FunctionError::runtime(
            "an array column would have more than 2^31 elements",
        ));
    }
    Ok(OffsetBuffer::from_lengths(std::iter::repeat_n(
        length, rows,
    )))
}

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let LogicalType::Array(element) = &args.result.logical else {
        unreachable!("ARRAY is inferred as an array")
    };
    let element = element.to_arrow();
    let ArrowType::List(field) = args.result.to_arrow() else {
        unreachable!("ARRAY is a list")
    };
    Ok(Box::new(move |columns, context| {
        let values = rows_of_values(&columns.iter().collect::<Vec<_>>(), context.rows, &element)?;
        let offsets = equal_offsets(context.rows, columns.len())?;
        let list = ListArray::try_new(field.clone(), offsets, values, None)?;
        Ok(Column::Array(Arc::new(list)))
    }))
}

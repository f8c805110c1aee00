//! The net change of an epoch: each distinct row once, with the sum of its weights.

use aquifer_runtime::error::Result;
use aquifer_types::ChangeBatch;
use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use arrow_schema::DataType as ArrowType;

use crate::error::internal;
use crate::state::GroupIndex;

/// Answers the net change of `batches`: no row with weight 0, no row twice, retractions first. Insertions keep the
/// order in which their rows first came. Batches without retractions come back as they are.
///
/// # Errors
/// An internal error when the batches differ in their types.
pub fn consolidate(batches: &[ChangeBatch]) -> Result<ChangeBatch> {
    let batch = ChangeBatch::concat(batches).map_err(internal)?;
    if batch.is_append_only() {
        return Ok(batch);
    }
    let (rows, weights) = net_rows(batch.columns(), batch.weights(), batch.len())?;
    let negative = weights.iter().filter(|weight| **weight < 0).count();
    let mut order = Vec::with_capacity(rows.len());
    order.extend((0..rows.len()).filter(|at| weights[*at] < 0));
    order.extend((0..rows.len()).filter(|at| weights[*at] > 0));
    let indices = UInt32Array::from_iter_values(order.iter().map(|at| rows[*at]));
    let columns = batch.take(&indices).map_err(internal)?.into_parts().0;
    let ones = negative == 0 && weights.iter().all(|weight| *weight == 1 || *weight == 0);
    let weights =
        (!ones).then(|| Int64Array::from_iter_values(order.iter().map(|at| weights[*at])));
    ChangeBatch::new(columns, weights, order.len()).map_err(internal)
}

/// The first row number of each distinct row, and the sum of its weights.
fn net_rows(
    columns: &[ArrayRef],
    weights: Option<&Int64Array>,
    rows: usize,
) -> Result<(Vec<u32>, Vec<i64>)> {
    let types: Vec<ArrowType> = columns
        .iter()
        .map(|column| column.data_type().clone())
        .collect();
    let mut index = GroupIndex::new(&types).map_err(internal)?;
    let mut groups = Vec::new();
    index.assign(columns, rows, &mut groups).map_err(internal)?;
    let mut first = Vec::with_capacity(index.len());
    let mut sums: Vec<i64> = Vec::with_capacity(index.len());
    for (row, group) in groups.into_iter().enumerate() {
        let weight = weights.map_or(1, |weights| weights.value(row));
        // Groups are numbered in the order of their first rows.
        if group as usize == first.len() {
            first.push(row as u32);
            sums.push(weight);
        } else {
            sums[group as usize] += weight;
        }
    }
    Ok((first, sums))
}

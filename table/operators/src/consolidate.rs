//! The net change of an epoch: each distinct row once, with the sum of its weights.

use aquifer_runtime::error::Result;
use aquifer_types::ChangeBatch;
use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType as ArrowType;
use arrow_select::take::take;

use crate::error::internal;
use crate::state::GroupIndex;
use crate::state::net_changes::column_differs;

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

/// As [`consolidate`], for rows with a key under which at most one row is there at a time. It is much cheaper, because
/// only the key is hashed; where the key does not hold, the rows themselves are.
///
/// # Errors
/// As [`consolidate`].
pub fn consolidate_by_key(batches: &[ChangeBatch], key: &[usize]) -> Result<ChangeBatch> {
    let batch = ChangeBatch::concat(batches).map_err(internal)?;
    if batch.is_append_only() {
        return Ok(batch);
    }
    let Some(pairs) = Pairs::find(&batch, key)? else {
        return consolidate(&[batch]);
    };
    let same = pairs.unchanged(&batch, key)?;
    let kept = |row: &u32| same.is_empty() || !same[*row as usize];
    let rows = 0..batch.len() as u32;
    let mut order: Vec<u32> = Vec::with_capacity(batch.len());
    order.extend(
        rows.clone()
            .filter(|row| batch.weight(*row as usize) < 0)
            .filter(kept),
    );
    order.extend(
        rows.filter(|row| batch.weight(*row as usize) > 0)
            .filter(kept),
    );
    if order.len() == batch.len() && order.is_sorted() {
        return Ok(batch);
    }
    batch.take(&UInt32Array::from(order)).map_err(internal)
}

/// The keys of which a row is removed and a row is added.
struct Pairs {
    removed: Vec<u32>,
    added: Vec<u32>,
}

impl Pairs {
    /// `None` when a key has more than one removed or added row.
    fn find(batch: &ChangeBatch, key: &[usize]) -> Result<Option<Self>> {
        let columns: Vec<ArrayRef> = key
            .iter()
            .map(|column| batch.column(*column).clone())
            .collect();
        let types: Vec<ArrowType> = columns
            .iter()
            .map(|column| column.data_type().clone())
            .collect();
        let mut index = GroupIndex::new(&types).map_err(internal)?;
        let mut groups = Vec::new();
        index
            .assign(&columns, batch.len(), &mut groups)
            .map_err(internal)?;
        let mut of_key = vec![[NO_ROW; 2]; index.bound()];
        for (row, group) in groups.into_iter().enumerate() {
            let sign = match batch.weight(row) {
                -1 => 0,
                1 => 1,
                _ => return Ok(None),
            };
            let slot = &mut of_key[group as usize][sign];
            if *slot != NO_ROW {
                return Ok(None);
            }
            *slot = row as u32;
        }
        of_key.retain(|rows| !rows.contains(&NO_ROW));
        let (removed, added) = of_key
            .into_iter()
            .map(|[removed, added]| (removed, added))
            .unzip();
        Ok(Some(Pairs { removed, added }))
    }

    /// By row, whether it belongs to a pair of equal rows; empty when there is no such pair.
    fn unchanged(&self, batch: &ChangeBatch, key: &[usize]) -> Result<Vec<bool>> {
        let (removed, added) = (
            UInt32Array::from(self.removed.clone()),
            UInt32Array::from(self.added.clone()),
        );
        let mut differs = BooleanBuffer::new_unset(self.removed.len());
        for column in (0..batch.columns().len()).filter(|column| !key.contains(column)) {
            if differs.count_set_bits() == differs.len() {
                return Ok(Vec::new());
            }
            let of = |rows: &UInt32Array| take(batch.column(column), rows, None).map_err(internal);
            differs = &differs | &column_differs(&of(&removed)?, &of(&added)?).map_err(internal)?;
        }
        let mut unchanged = vec![false; batch.len()];
        for at in (0..differs.len()).filter(|at| !differs.value(*at)) {
            unchanged[self.removed[at] as usize] = true;
            unchanged[self.added[at] as usize] = true;
        }
        Ok(unchanged)
    }
}

const NO_ROW: u32 = u32::MAX;

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

#[cfg(test)]
mod tests {
    use aquifer_types::{DataTypes, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Changes, changes, consolidated};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_net_change_is_right_with_and_without_a_key(
            rows in proptest::collection::vec((0i32..6, 0i32..3, any::<bool>()), 0..12),
            cut in 0usize..12,
        ) {
            let types = vec![DataTypes::int(), DataTypes::int(), DataTypes::string()];
            let row = |(key, value, added): &(i32, i32, bool)| {
                (vec![Value::Int(*key), Value::Int(*value), Value::from("x")], if *added { 1 } else { -1 })
            };
            let (a, b) = rows.split_at(cut.min(rows.len()));
            let batches = [a, b].map(|part| {
                changes(&types, part.iter().map(row)).into_data::<ChangeBatch>().unwrap()
            });
            let mut expected = Changes::new();
            for (values, weight) in rows.iter().map(row) {
                *expected.entry(values).or_default() += weight;
            }
            expected.retain(|_, weight| *weight != 0);
            for net in [consolidate(&batches).unwrap(), consolidate_by_key(&batches, &[0]).unwrap()] {
                let signs: Vec<bool> = (0..net.len()).map(|row| net.weight(row) > 0).collect();
                prop_assert!(signs.is_sorted() || net.is_append_only(), "retractions first");
                if !net.is_empty() && !net.is_append_only() {
                    prop_assert_eq!(&consolidated(vec![(0, net.into())], &types), &expected);
                }
            }
        }
    }
}

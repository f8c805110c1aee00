//! Changes to rows with kinds, at the border.
//!
//! Inside the engine a change is a row with a weight; a user sees `+I -U +U -D`. Within one epoch's net change, a
//! removed and an added row of one upsert key are an update, `-U` directly followed by `+U`; without a key there are
//! only `-D` and `+I`. Removed rows come first, so that a reader who applies rows one by one never sees two rows of
//! one key. Kinds that the receiver's [`ChangelogMode`] lacks are left out: an upsert sink gets no `-U`.

use std::sync::Arc;

use aquifer_runtime::error::Result;
use aquifer_runtime::transformation::StepFactory;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, Output, StreamBatch};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType, Row, RowKind};
use arrow_array::ArrayRef;
use arrow_schema::DataType as ArrowType;

use crate::consolidate::{consolidate, consolidate_by_key};
use crate::error::{internal, user};
use crate::state::GroupIndex;

/// Collects the changes of an epoch and answers them as rows. See the module's description.
pub struct ChangesToRows {
    types: Vec<DataType>,
    upsert_key: Option<Vec<usize>>,
    mode: ChangelogMode,
    batches: Vec<ChangeBatch>,
}

impl ChangesToRows {
    /// For rows of these types, updated by `upsert_key` if there is one; kinds that `mode` lacks are left out.
    pub fn new(types: Vec<DataType>, upsert_key: Option<Vec<usize>>, mode: ChangelogMode) -> Self {
        ChangesToRows {
            types,
            upsert_key,
            mode,
            batches: Vec::new(),
        }
    }

    /// Takes changes of the current epoch.
    pub fn push(&mut self, batch: ChangeBatch) {
        self.batches.push(batch);
    }

    /// True when the current epoch has no changes so far.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Ends the epoch: its net change as rows.
    ///
    /// # Errors
    /// An internal error when the batches are not of the types.
    pub fn finish(&mut self) -> Result<Vec<Row>> {
        let batches = std::mem::take(&mut self.batches);
        if batches.iter().all(ChangeBatch::is_append_only) {
            return Ok(batches
                .iter()
                .flat_map(|batch| batch.to_rows(&self.types))
                .collect());
        }
        let mut rows = match &self.upsert_key {
            Some(key) => self.by_key(&consolidate_by_key(&batches, key)?, key)?,
            None => consolidate(&batches)?.to_rows(&self.types),
        };
        if self.mode != ChangelogMode::all() {
            rows.retain(|row| self.mode.contains(row.kind()));
        }
        Ok(rows)
    }

    /// Pairs the removed and added rows of each key.
    fn by_key(&self, net: &ChangeBatch, key: &[usize]) -> Result<Vec<Row>> {
        let columns: Vec<ArrayRef> = key
            .iter()
            .map(|column| net.column(*column).clone())
            .collect();
        let types: Vec<ArrowType> = columns
            .iter()
            .map(|column| column.data_type().clone())
            .collect();
        let mut groups = Vec::new();
        let mut index = GroupIndex::new(&types).map_err(internal)?;
        index
            .assign(&columns, net.len(), &mut groups)
            .map_err(internal)?;

        // Per key the removed rows that no added row has met, as a list through `next`.
        let mut removed: Vec<Option<usize>> = vec![None; index.bound()];
        let mut next: Vec<Option<usize>> = vec![None; net.len()];
        let mut partner: Vec<Option<usize>> = vec![None; net.len()];
        let simple = (0..net.len()).all(|row| net.weight(row).abs() == 1);
        if !simple {
            // A row twice under one key: the key does not hold, so nothing is an update.
            return Ok(net.to_rows(&self.types));
        }
        for row in 0..net.len() {
            let list = &mut removed[groups[row] as usize];
            if net.weight(row) < 0 {
                next[row] = list.replace(row);
            } else if let Some(old) = *list {
                *list = next[old];
                partner[row] = Some(old);
                partner[old] = Some(row);
            }
        }
        let mut rows = Vec::with_capacity(net.len());
        let deleted = (0..net.len()).filter(|row| net.weight(*row) < 0 && partner[*row].is_none());
        rows.extend(deleted.map(|row| net.row(row, &self.types)));
        for row in (0..net.len()).filter(|row| net.weight(*row) > 0) {
            match partner[row] {
                Some(old) => {
                    rows.push(net.row(old, &self.types).with_kind(RowKind::UpdateBefore));
                    rows.push(net.row(row, &self.types).with_kind(RowKind::UpdateAfter));
                }
                None => rows.push(net.row(row, &self.types)),
            }
        }
        Ok(rows)
    }
}

/// Emits the net change of each epoch as rows: a `StreamBatch<Row>`, for streams and for sinks that take rows.
pub struct ChangesToRowsOperator {
    changes: ChangesToRows,
}

impl ChangesToRowsOperator {
    /// Converts with `changes`.
    pub fn new(changes: ChangesToRows) -> Self {
        ChangesToRowsOperator { changes }
    }
}

impl EpochOperator for ChangesToRowsOperator {
    fn process(&mut self, _: usize, batch: Batch, _: &mut Output) -> Result<()> {
        self.changes.push(batch.into_data::<ChangeBatch>()?);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        if !self.changes.is_empty() {
            output.emit(0, StreamBatch::from_values(self.changes.finish()?));
        }
        Ok(EpochEnd::Done)
    }
}

/// A step that takes a `StreamBatch<Row>` and makes change batches of these types; a row's kind gives its weight.
///
/// A row that does not fit the types fails the job, by its column and value.
pub fn rows_to_changes(types: Vec<DataType>) -> StepFactory {
    Arc::new(move |_| {
        let types = types.clone();
        Ok(Box::new(move |batch: Batch| {
            let rows = batch.into_data::<StreamBatch<Row>>()?;
            Ok(ChangeBatch::from_rows(rows.values(), &types)
                .map_err(user)?
                .into())
        }))
    })
}

#[cfg(test)]
mod tests {
    use aquifer_types::{DataTypes, row_values};

    use super::*;

    fn check(
        key: Option<Vec<usize>>,
        mode: ChangelogMode,
        changes: &[(i32, &str, i64)],
    ) -> Vec<String> {
        let types = vec![DataTypes::int(), DataTypes::string()];
        let mut converter = ChangesToRows::new(types.clone(), key, mode);
        for (id, text, weight) in changes {
            let mut builder = aquifer_types::ChangeBatchBuilder::new(&types, 1);
            builder
                .push_values(&row_values![*id, *text], *weight)
                .unwrap();
            converter.push(builder.finish());
        }
        let rows = converter
            .finish()
            .unwrap()
            .iter()
            .map(Row::to_string)
            .collect();
        assert!(
            converter.finish().unwrap().is_empty(),
            "nothing is left for the next epoch"
        );
        rows
    }

    #[test]
    fn insertions_keep_their_order_and_number() {
        let rows = check(
            None,
            ChangelogMode::all(),
            &[(2, "b", 1), (1, "a", 2), (2, "b", 1)],
        );
        assert_eq!(rows, ["+I[2, b]", "+I[1, a]", "+I[1, a]", "+I[2, b]"]);
    }

    #[test]
    fn an_update_is_a_pair_whatever_the_order_it_came_in() {
        let changes = [
            (1, "new", 1),
            (7, "x", 1),
            (1, "old", -1),
            (3, "gone", -1),
            (4, "c", 1),
            (4, "c", -1),
        ];
        let rows = check(Some(vec![0]), ChangelogMode::all(), &changes);
        assert_eq!(
            rows,
            ["-D[3, gone]", "-U[1, old]", "+U[1, new]", "+I[7, x]"]
        );
        let rows = check(Some(vec![0]), ChangelogMode::upsert(), &changes);
        assert_eq!(rows, ["-D[3, gone]", "+U[1, new]", "+I[7, x]"]);
        let rows = check(None, ChangelogMode::all(), &changes);
        assert_eq!(
            rows,
            ["-D[1, old]", "-D[3, gone]", "+I[1, new]", "+I[7, x]"]
        );
    }

    #[test]
    fn transient_rows_are_not_seen() {
        assert!(
            check(
                Some(vec![0]),
                ChangelogMode::all(),
                &[(1, "a", 1), (1, "a", -1)]
            )
            .is_empty()
        );
        assert_eq!(
            check(None, ChangelogMode::all(), &[(1, "a", -1), (1, "a", 3)]),
            ["+I[1, a]", "+I[1, a]"]
        );
    }

    #[test]
    fn rows_that_break_the_key_are_no_updates() {
        let rows = check(
            Some(vec![0]),
            ChangelogMode::all(),
            &[(1, "a", -2), (1, "b", 1)],
        );
        assert_eq!(rows, ["-D[1, a]", "-D[1, a]", "+I[1, b]"]);
    }
}

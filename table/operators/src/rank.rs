//! The rows at certain positions of each partition's order (Top-N), for appending and retracting input.
//!
//! Each partition keeps its rows as a list sorted by the bytes of their `arrow-row` form: the sort columns first, then
//! all columns, so that rows of equal sort keys have an order that does not depend on their arrival. Equal rows share
//! a slot and occupy as many positions as their weight. When a partition is first touched in an epoch, the rows of
//! the range are noted; at the end of the epoch the difference is emitted.
//!
//! State: all rows of each partition; with append-only input the rows up to the end of the range.
//!
//! Semantics: Flink's Rank with `ROW_NUMBER`.

use std::sync::Arc;

use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType as ArrowType, SortOptions};

use crate::emit::BATCH;
use crate::error::internal;
use crate::state::frames::{restore_rows, snapshot_rows};
use crate::state::{GroupIndex, RowIndex, RowStore};

const STATE: &str = "rows";

/// A column that orders rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SortColumn {
    /// Its index.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}

/// What a [`RankOperator`] computes.
#[derive(Clone, Debug)]
pub struct RankParameters {
    /// The types of the input's columns.
    pub types: Vec<DataType>,
    /// The partition columns; none for one partition.
    pub partition: Vec<usize>,
    /// The order within a partition.
    pub order: Vec<SortColumn>,
    /// The first position that is kept, from 1.
    pub start: u64,
    /// The last position that is kept.
    pub end: u64,
    /// Whether the position is appended to the row as a BIGINT.
    pub outputs_rank: bool,
    /// True when the input never retracts.
    pub append_only: bool,
}

impl RankParameters {
    /// Keeps one row per key, whichever of several the order of all columns puts first: for a sink whose primary key
    /// is not a key of the rows that reach it (Flink's `SinkUpsertMaterializer`, which keeps the last to arrive).
    #[must_use]
    pub fn one_per_key(types: Vec<DataType>, key: Vec<usize>, append_only: bool) -> Self {
        RankParameters {
            types,
            partition: key,
            order: Vec::new(),
            start: 1,
            end: 1,
            outputs_rank: false,
            append_only,
        }
    }
}

/// Keeps the rows at certain positions of each partition. See the module's description.
///
/// Output: the input's columns, then the position if asked for.
pub struct RankOperator {
    parameters: RankParameters,
    index: GroupIndex,
    rows: RowIndex,
    /// By slot, the bytes that order it.
    order: RowStore,
    converter: RowConverter,
    partitions: Vec<Partition>,
    /// Groups of the current epoch.
    touched: Vec<u32>,
    context: Option<OperatorContext>,
}

#[derive(Default)]
struct Partition {
    /// Slots in order, as of the end of the last epoch.
    sorted: Vec<u32>,
    /// True when all positions up to the end of the range are taken.
    is_full: bool,
    /// True when the current epoch touched it; then `before` is what its range was.
    is_touched: bool,
    before: Vec<Ranked>,
    /// Slots of the current epoch that are not in `sorted`.
    created: Vec<u32>,
    /// Slots whose weight was 0 or less at some time in this epoch: less for rows retracted that were not there.
    emptied: Vec<u32>,
}

/// A row in the range: how many positions it takes, from which one on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ranked {
    slot: u32,
    position: i64,
    count: i64,
}

impl RankOperator {
    /// Ranks as `parameters` say.
    ///
    /// # Errors
    /// When the types cannot be stored.
    pub fn new(parameters: RankParameters) -> Result<Self> {
        let types: Vec<ArrowType> = parameters.types.iter().map(DataType::to_arrow).collect();
        let key_types: Vec<ArrowType> = parameters
            .partition
            .iter()
            .map(|key| types[*key].clone())
            .collect();
        let mut fields: Vec<SortField> = Vec::new();
        for sort in &parameters.order {
            let options = SortOptions {
                descending: sort.descending,
                nulls_first: sort.nulls_first,
            };
            fields.push(SortField::new_with_options(
                types[sort.column].clone(),
                options,
            ));
        }
        fields.extend(types.iter().cloned().map(SortField::new));
        Ok(RankOperator {
            index: GroupIndex::new(&key_types).map_err(internal)?,
            rows: RowIndex::new(&types, true).map_err(internal)?,
            order: RowStore::new(&[ArrowType::Binary]).map_err(internal)?,
            converter: RowConverter::new(fields).map_err(internal)?,
            parameters,
            partitions: Vec::new(),
            touched: Vec::new(),
            context: None,
        })
    }

    /// Stores rows; they are sorted in at the end of the epoch.
    fn add(&mut self, batch: &ChangeBatch) -> Result<()> {
        let keys: Vec<ArrayRef> = self
            .parameters
            .partition
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        let (mut groups, mut slots) = (Vec::new(), Vec::new());
        self.index
            .assign(&keys, batch.len(), &mut groups)
            .map_err(internal)?;
        self.partitions.resize_with(
            self.index.bound().max(self.partitions.len()),
            Partition::default,
        );

        let sort = self
            .parameters
            .order
            .iter()
            .map(|sort| batch.column(sort.column).clone());
        let columns: Vec<ArrayRef> = sort.chain(batch.columns().iter().cloned()).collect();
        let bytes = self.converter.convert_columns(&columns).map_err(internal)?;
        let mut batch = batch.clone();
        let mut kept: Option<Vec<u32>> = None;
        if self.parameters.append_only {
            // Most rows of a Top-N over appended rows come after its end for good.
            let enters = |row: &u32| {
                let partition = &self.partitions[groups[*row as usize] as usize];
                !partition.is_full
                    || partition.sorted.last().is_none_or(|last| {
                        bytes.row(*row as usize).data() < self.order.bytes(0, *last)
                    })
            };
            let rows: Vec<u32> = (0..groups.len() as u32).filter(enters).collect();
            if rows.len() < groups.len() {
                groups = rows.iter().map(|row| groups[*row as usize]).collect();
                batch = batch
                    .take(&UInt32Array::from(rows.clone()))
                    .map_err(internal)?;
                kept = Some(rows);
            }
        }
        for group in &groups {
            self.touch(*group);
        }
        self.rows
            .locate(&groups, batch.columns(), &mut slots)
            .map_err(internal)?;
        let mut created = self.rows.created().iter().peekable();
        let (mut new_rows, mut new_slots) = (Vec::new(), Vec::new());
        for (row, slot) in slots.iter().enumerate() {
            if created.next_if_eq(&slot).is_some() {
                new_rows.push(row as u32);
                new_slots.push(*slot);
                self.partitions[groups[row] as usize].created.push(*slot);
            }
        }
        let source = |row: &u32| kept.as_ref().map_or(*row, |kept| kept[*row as usize]) as usize;
        let new_bytes =
            BinaryArray::from_iter_values(new_rows.iter().map(|row| bytes.row(source(row)).data()));
        let positions: Vec<u32> = (0..new_slots.len() as u32).collect();
        self.order.resize(self.rows.bound());
        self.order
            .put(&[Arc::new(new_bytes) as ArrayRef], &positions, &new_slots)
            .map_err(internal)?;
        for (row, slot) in slots.iter().enumerate() {
            if self.rows.add_weight(*slot, batch.weight(row)) <= 0 {
                self.partitions[groups[row] as usize].emptied.push(*slot);
            }
        }
        Ok(())
    }

    /// Notes the range of a partition before the epoch changes it.
    fn touch(&mut self, group: u32) {
        if self.partitions[group as usize].is_touched {
            return;
        }
        let before = self.range(group).0;
        let partition = &mut self.partitions[group as usize];
        partition.is_touched = true;
        partition.before = before;
        self.touched.push(group);
    }

    /// The rows of a partition's range, and how many slots its positions up to the end take, if they are all taken.
    fn range(&self, group: u32) -> (Vec<Ranked>, Option<usize>) {
        let start = i64::try_from(self.parameters.start).unwrap_or(i64::MAX);
        let end = i64::try_from(self.parameters.end).unwrap_or(i64::MAX);
        let mut position = 1;
        let mut ranked = Vec::new();
        for (at, slot) in self.partitions[group as usize].sorted.iter().enumerate() {
            let next = position + self.rows.weight(*slot).max(0);
            let (from, to) = (position.max(start), next.min(end.saturating_add(1)));
            if from < to {
                ranked.push(Ranked {
                    slot: *slot,
                    position: from,
                    count: to - from,
                });
            }
            position = next;
            if position > end {
                return (ranked, Some(at + 1));
            }
        }
        (ranked, None)
    }

    /// Brings the order of a touched partition up to date.
    fn sort(&mut self, group: u32) {
        let RankOperator {
            partitions,
            rows,
            order,
            ..
        } = self;
        let partition = &mut partitions[group as usize];
        let compare = |a: &u32, b: &u32| order.bytes(0, *a).cmp(order.bytes(0, *b));
        let mut created = std::mem::take(&mut partition.created);
        created.sort_unstable_by(compare);
        if created.len() * 16 < partition.sorted.len() {
            for slot in created {
                let at = partition
                    .sorted
                    .partition_point(|other| compare(other, &slot).is_lt());
                partition.sorted.insert(at, slot);
            }
        } else {
            partition.sorted.append(&mut created);
            // Stable, because that sort makes use of the two sorted runs.
            partition.sorted.sort_by(compare);
        }
        let mut gone = std::mem::take(&mut partition.emptied);
        gone.retain(|slot| rows.weight(*slot) <= 0);
        gone.sort_unstable();
        gone.dedup();
        for slot in &gone {
            if let Ok(at) = partition
                .sorted
                .binary_search_by(|other| compare(other, slot))
            {
                partition.sorted.remove(at);
            }
        }
        partition.emptied = gone;
    }

    /// Forgets rows that left a partition, once its changes are emitted.
    fn release(&mut self, group: u32, end: Option<usize>) {
        let partition = &mut self.partitions[group as usize];
        let mut gone = std::mem::take(&mut partition.emptied);
        partition.is_full = end.is_some();
        if let Some(end) = end.filter(|_| self.parameters.append_only) {
            gone.extend(partition.sorted.drain(end..));
        }
        let is_empty = partition.sorted.is_empty();
        partition.is_touched = false;
        partition.before = Vec::new();
        self.rows.release(&gone);
        self.order.clear(&gone);
        if is_empty {
            self.index.remove(&[group]);
        }
    }

    /// Slot, position (0 unless it is part of the output) and weight of what changed in a partition's range.
    fn difference(&self, before: &[Ranked], after: &[Ranked], changes: &mut Vec<(u32, i64, i64)>) {
        let start = changes.len();
        for (ranks, sign) in [(before, -1), (after, 1)] {
            for ranked in ranks {
                if self.parameters.outputs_rank {
                    let positions = ranked.position..ranked.position + ranked.count;
                    changes.extend(positions.map(|position| (ranked.slot, position, sign)));
                } else {
                    changes.push((ranked.slot, 0, sign * ranked.count));
                }
            }
        }
        changes[start..].sort_unstable();
        let mut net: Vec<(u32, i64, i64)> = Vec::new();
        for (slot, position, weight) in changes.drain(start..) {
            match net.last_mut() {
                Some(last) if (last.0, last.1) == (slot, position) => last.2 += weight,
                _ => net.push((slot, position, weight)),
            }
        }
        changes.extend(net.into_iter().filter(|change| change.2 != 0));
    }

    fn emit(&self, mut changes: Vec<(u32, i64, i64)>, output: &mut Output) -> Result<()> {
        changes.sort_by_key(|change| change.2 > 0);
        for part in changes.chunks(BATCH) {
            let slots: Vec<u32> = part.iter().map(|change| change.0).collect();
            let mut columns = self.rows.rows().gather(&slots).map_err(internal)?;
            if self.parameters.outputs_rank {
                columns.push(Arc::new(Int64Array::from_iter_values(
                    part.iter().map(|change| change.1),
                )));
            }
            let ones = part.iter().all(|change| change.2 == 1);
            let weights =
                (!ones).then(|| Int64Array::from_iter_values(part.iter().map(|change| change.2)));
            output.emit(
                0,
                ChangeBatch::new(columns, weights, part.len()).map_err(internal)?,
            );
        }
        Ok(())
    }

    /// Ends the epoch for the partitions it touched, and answers what changed.
    fn settle(&mut self) -> Vec<(u32, i64, i64)> {
        let touched = std::mem::take(&mut self.touched);
        let mut changes = Vec::new();
        for group in &touched {
            self.sort(*group);
            let after = self.range(*group).0;
            let before = std::mem::take(&mut self.partitions[*group as usize].before);
            self.difference(&before, &after, &mut changes);
        }
        self.touched = touched;
        changes
    }

    fn release_touched(&mut self) {
        for group in std::mem::take(&mut self.touched) {
            let end = self.range(group).1;
            self.release(group, end);
        }
    }
}

impl EpochOperator for RankOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
        let (types, keys) = (
            self.parameters.types.clone(),
            self.parameters.partition.clone(),
        );
        restore_rows(state, STATE, &types, &keys, &context, |batch| {
            self.add(&batch)
        })?;
        self.settle();
        self.release_touched();
        Ok(())
    }

    fn process(&mut self, _: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        if self.parameters.append_only && !batch.is_append_only() {
            return Err(internal(
                "a rank was planned for append-only input, but a row was retracted",
            ));
        }
        self.add(&batch)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let changes = self.settle();
        self.emit(changes, output)?;
        self.release_touched();
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let slots = self.rows.slots();
        let columns = self.rows.rows().gather(&slots).map_err(internal)?;
        let weights =
            Int64Array::from_iter_values(slots.iter().map(|slot| self.rows.weight(*slot)));
        let batch = ChangeBatch::new(columns, Some(weights), slots.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.parameters.types, batch);
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let lists: usize = self.partitions.capacity() * size_of::<Partition>();
        let bytes =
            lists + self.index.size_bytes() + self.rows.size_bytes() + self.order.size_bytes();
        StateSize {
            bytes: bytes as u64,
            keys: self.index.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;

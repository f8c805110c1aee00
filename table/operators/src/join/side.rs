//! The rows of one side of a join, with what the other side has done to them in the current epoch.

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::{OperatorContext, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_schema::DataType as ArrowType;
use std::sync::Arc;

use super::operator::JoinInput;
use crate::error::internal;
use crate::state::frames::{restore_rows, snapshot_rows};
use crate::state::{GroupIndex, RowIndex};

/// How the rows of a side reach the output besides in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Solo {
    /// Not at all.
    Never,
    /// While no row of the other side matches.
    Unmatched,
    /// While a row of the other side matches.
    Matched,
}

impl Solo {
    /// The weight a row has in the output by itself.
    fn weight(self, weight: i64, matches: i64) -> i64 {
        match self {
            Solo::Unmatched if matches <= 0 => weight,
            Solo::Matched if matches > 0 => weight,
            _ => 0,
        }
    }
}

/// One side of a join.
pub(super) struct Side {
    name: &'static str,
    input: JoinInput,
    solo: Solo,
    pub(super) rows: RowIndex,
    /// Whether a row may have another weight than 1.
    has_weights: bool,
    /// Per slot, the weight of all matching rows of the other side; only kept when rows appear solo.
    matches: Vec<i64>,
    /// Slots touched in this epoch, with the weight and the matches they had before.
    touched: Vec<(u32, i64, i64)>,
    touched_in: Vec<u32>,
    epoch: u32,
    /// Slots whose weight was 0 at some time in this epoch.
    emptied: Vec<u32>,
}

impl Side {
    pub(super) fn new(name: &'static str, input: JoinInput, solo: Solo) -> Result<Self> {
        let types: Vec<ArrowType> = input.types.iter().map(DataType::to_arrow).collect();
        let rows = RowIndex::new(&types, !input.append_only).map_err(internal)?;
        Ok(Side {
            name,
            input,
            solo,
            rows,
            has_weights: false,
            matches: Vec::new(),
            touched: Vec::new(),
            touched_in: Vec::new(),
            epoch: 1,
            emptied: Vec::new(),
        })
    }

    pub(super) fn key_types(&self) -> Vec<ArrowType> {
        self.input
            .keys
            .iter()
            .map(|key| self.input.types[*key].to_arrow())
            .collect()
    }

    pub(super) fn arity(&self) -> usize {
        self.input.types.len()
    }

    pub(super) fn is_append_only(&self) -> bool {
        self.input.append_only
    }

    pub(super) fn solo(&self) -> Solo {
        self.solo
    }

    /// True when matches are counted.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.solo != Solo::Never
    }

    /// Whether a row may have another weight than 1.
    pub(super) fn has_weights(&self) -> bool {
        self.has_weights
    }

    pub(super) fn keys_of(&self, batch: &ChangeBatch) -> Vec<ArrayRef> {
        self.input
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect()
    }

    /// Stores rows and answers their slots; `groups` are their keys.
    pub(super) fn add(
        &mut self,
        groups: &[u32],
        batch: &ChangeBatch,
        slots: &mut Vec<u32>,
    ) -> Result<()> {
        if self.input.append_only && !batch.is_append_only() {
            return Err(RuntimeError::internal(format!(
                "the {} input of a join was planned as append-only, but retracts a row",
                self.name
            )));
        }
        self.has_weights |= batch.weights().is_some();
        self.rows
            .locate(groups, batch.columns(), slots)
            .map_err(internal)?;
        if self.counts() {
            self.matches.resize(self.rows.bound(), 0);
            self.touched_in.resize(self.rows.bound(), 0);
            for slot in self.rows.created() {
                self.matches[*slot as usize] = 0;
                self.touched_in[*slot as usize] = 0;
            }
            for slot in slots.iter() {
                self.touch(*slot);
            }
        }
        for (row, slot) in slots.iter().enumerate() {
            if self.rows.add_weight(*slot, batch.weight(row)) == 0 {
                self.emptied.push(*slot);
            }
        }
        Ok(())
    }

    /// Remembers what a slot was before the epoch.
    #[inline]
    fn touch(&mut self, slot: u32) {
        let stamp = &mut self.touched_in[slot as usize];
        if *stamp != self.epoch {
            *stamp = self.epoch;
            self.touched
                .push((slot, self.rows.weight(slot), self.matches[slot as usize]));
        }
    }

    /// Adds matches to a slot.
    #[inline]
    pub(super) fn add_matches(&mut self, slot: u32, weight: i64) {
        self.touch(slot);
        self.matches[slot as usize] += weight;
    }

    /// Calls `each` with the slots whose weight in the output by themselves changed, and by how much.
    pub(super) fn solo_changes(&self, mut each: impl FnMut(u32, i64)) {
        for (slot, weight, matches) in &self.touched {
            let old = self.solo.weight(*weight, *matches);
            let new = self
                .solo
                .weight(self.rows.weight(*slot), self.matches[*slot as usize]);
            if new != old {
                each(*slot, new - old);
            }
        }
    }

    /// Ends the epoch: forgets rows of weight 0 and answers their groups, some of them twice.
    pub(super) fn end_epoch(&mut self) -> Vec<u32> {
        self.touched.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.touched_in.fill(0);
            self.epoch = 1;
        }
        if self.emptied.is_empty() || !self.rows.is_retractable() {
            self.emptied.clear();
            return Vec::new();
        }
        let mut gone = std::mem::take(&mut self.emptied);
        gone.retain(|slot| self.rows.weight(*slot) == 0);
        gone.sort_unstable();
        gone.dedup();
        self.rows.release(&gone);
        gone.into_iter().map(|slot| self.rows.group(slot)).collect()
    }

    fn state_types(&self) -> Vec<DataType> {
        let mut types = self.input.types.clone();
        types.extend(self.counts().then(|| DataTypes::bigint().not_null()));
        types
    }

    pub(super) fn snapshot(&self, snapshot: &mut Snapshot) -> Result<()> {
        let slots = self.rows.slots();
        let mut columns = self.rows.rows().gather(&slots).map_err(internal)?;
        if self.counts() {
            let matches = slots.iter().map(|slot| self.matches[*slot as usize]);
            columns.push(Arc::new(Int64Array::from_iter_values(matches)));
        }
        let weights =
            Int64Array::from_iter_values(slots.iter().map(|slot| self.rows.weight(*slot)));
        let batch = ChangeBatch::new(columns, Some(weights), slots.len()).map_err(internal)?;
        snapshot_rows(snapshot, self.name, &self.state_types(), batch);
        Ok(())
    }

    pub(super) fn restore(
        &mut self,
        state: &Restore,
        index: &mut GroupIndex,
        context: &OperatorContext,
    ) -> Result<()> {
        let (types, keys) = (self.state_types(), self.input.keys.clone());
        let (mut groups, mut slots) = (Vec::new(), Vec::new());
        restore_rows(state, self.name, &types, &keys, context, |batch| {
            index
                .assign(&self.keys_of(&batch), batch.len(), &mut groups)
                .map_err(internal)?;
            let columns = &batch.columns()[..self.arity()];
            self.has_weights |= (0..batch.len()).any(|row| batch.weight(row) != 1);
            self.rows
                .locate(&groups, columns, &mut slots)
                .map_err(internal)?;
            for (row, slot) in slots.iter().enumerate() {
                self.rows.add_weight(*slot, batch.weight(row));
            }
            if self.counts() {
                self.matches.resize(self.rows.bound(), 0);
                self.touched_in.resize(self.rows.bound(), 0);
                let matches = batch.column(self.arity()).as_primitive::<Int64Type>();
                slots
                    .iter()
                    .zip(matches.values())
                    .for_each(|(slot, count)| self.matches[*slot as usize] = *count);
            }
            Ok(())
        })
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.rows.size_bytes() + self.matches.capacity() * 8 + self.touched_in.capacity() * 4
    }
}

/// Which rows may match at all: those without a NULL in a key column, unless NULL equals NULL there. `None`: all.
pub(super) fn rows_with_keys(keys: &[ArrayRef], null_safe: &[bool]) -> Option<BooleanArray> {
    let mut valid: Option<arrow_buffer::NullBuffer> = None;
    for (key, null_safe) in keys.iter().zip(null_safe) {
        if !null_safe && key.null_count() > 0 {
            valid = arrow_buffer::NullBuffer::union(valid.as_ref(), key.nulls());
        }
    }
    valid.map(|valid| BooleanArray::new(valid.into_inner(), None))
}

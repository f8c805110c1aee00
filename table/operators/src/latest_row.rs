//! One row per key: the state that deduplication and changelog normalisation share.
//!
//! A key's row lies in the slot of its group's number. What a row was at the start of the epoch is put aside when its
//! key is first touched, so an epoch changes a key by at most one retraction and one insertion.

use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::ArrayRef;
use arrow_schema::DataType as ArrowType;

use crate::emit::emit;
use crate::error::internal;
use crate::state::frames::{restore_rows, snapshot_rows};
use crate::state::net_changes::NetChanges;
use crate::state::{GroupIndex, RowStore};

const STATE: &str = "rows";

/// One row per key. See the module's description.
pub(crate) struct LatestRows {
    types: Vec<DataType>,
    keys: Vec<usize>,
    index: GroupIndex,
    rows: RowStore,
    exists: Vec<bool>,
    changes: NetChanges,
}

impl LatestRows {
    pub(crate) fn new(types: Vec<DataType>, keys: Vec<usize>) -> Result<Self> {
        let arrow: Vec<ArrowType> = types.iter().map(DataType::to_arrow).collect();
        let key_types: Vec<ArrowType> = keys.iter().map(|key| arrow[*key].clone()).collect();
        Ok(LatestRows {
            index: GroupIndex::new(&key_types).map_err(internal)?,
            rows: RowStore::new(&arrow).map_err(internal)?,
            types,
            keys,
            exists: Vec::new(),
            changes: NetChanges::default(),
        })
    }

    /// The key of each row, as a group.
    pub(crate) fn groups(&mut self, batch: &ChangeBatch) -> Result<Vec<u32>> {
        let keys: Vec<ArrayRef> = self
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        let mut groups = Vec::new();
        self.index
            .assign(&keys, batch.len(), &mut groups)
            .map_err(internal)?;
        self.exists.resize(self.index.bound(), false);
        self.rows.resize(self.index.bound());
        Ok(groups)
    }

    /// Whether the key has a row.
    #[inline]
    pub(crate) fn exists(&self, group: u32) -> bool {
        self.exists[group as usize]
    }

    /// A column of the rows of some keys; arbitrary where there is none.
    pub(crate) fn column(&self, column: usize, groups: &[u32]) -> Result<ArrayRef> {
        self.rows.gather_column(column, groups).map_err(internal)
    }

    /// Makes row `rows[i]` of `batch` the row of key `groups[i]`, or, where `exists[i]` is false, takes the key's row
    /// away. Each key is named once.
    pub(crate) fn set(
        &mut self,
        batch: &ChangeBatch,
        rows: &[u32],
        groups: &[u32],
        exists: &[bool],
    ) -> Result<()> {
        let first = self.changes.touch(groups, self.index.bound());
        let (known, rows_of) = (&self.exists, &self.rows);
        self.changes.remember(
            &first,
            |group| known[group as usize],
            |living| rows_of.gather(living).map_err(internal),
        )?;
        for (group, exists) in groups.iter().zip(exists) {
            self.exists[*group as usize] = *exists;
        }
        // Rows of keys that go are put as well: a key that only deletes still needs no row, and it is cheaper than
        // to split the batch.
        self.rows
            .put(batch.columns(), rows, groups)
            .map_err(internal)
    }

    /// Ends the epoch: emits the net change and forgets keys without a row.
    pub(crate) fn end_epoch(&mut self, output: &mut Output) -> Result<()> {
        let touched = self.changes.touched().to_vec();
        let exists: Vec<bool> = touched
            .iter()
            .map(|group| self.exists[*group as usize])
            .collect();
        let new = self.rows.gather(&touched).map_err(internal)?;
        for batch in self
            .changes
            .finish(&exists, &new)?
            .into_batches(|_| Ok(Vec::new()))?
        {
            emit(output, batch);
        }
        let gone: Vec<u32> = touched
            .into_iter()
            .filter(|group| !self.exists[*group as usize])
            .collect();
        self.rows.clear(&gone);
        self.index.remove(&gone);
        Ok(())
    }

    pub(crate) fn snapshot(&self, snapshot: &mut Snapshot) -> Result<()> {
        let groups = self.index.groups();
        let columns = self.rows.gather(&groups).map_err(internal)?;
        let batch = ChangeBatch::new(columns, None, groups.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.types, batch);
        Ok(())
    }

    pub(crate) fn restore(&mut self, state: &Restore, context: &OperatorContext) -> Result<()> {
        let (types, keys) = (self.types.clone(), self.keys.clone());
        restore_rows(state, STATE, &types, &keys, context, |batch| {
            let groups = self.groups(&batch)?;
            let rows: Vec<u32> = (0..groups.len() as u32).collect();
            groups
                .iter()
                .for_each(|group| self.exists[*group as usize] = true);
            self.rows
                .put(batch.columns(), &rows, &groups)
                .map_err(internal)
        })
    }

    pub(crate) fn state_size(&self) -> StateSize {
        let bytes = self.index.size_bytes() + self.rows.size_bytes() + self.exists.capacity();
        StateSize {
            bytes: bytes as u64,
            keys: self.index.len() as u64,
        }
    }
}

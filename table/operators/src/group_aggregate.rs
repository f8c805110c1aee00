//! Aggregates of each group of rows, or of all rows.
//!
//! Rows update columnar accumulators as they come. When a group is first touched in an epoch its old result is put
//! aside; at the end of the epoch a group whose result changed emits one retraction and one insertion. A group lives
//! as long as it has rows: when their number falls to 0 its result is retracted and it is forgotten. Without keys
//! there is one group, which also exists only while there are rows, unless told otherwise.
//!
//! Output: the key columns, then one column per aggregate call.
//!
//! Semantics: Flink's `GroupAggFunction` in streaming mode (an aggregation over no rows has no result).

use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::ArrayRef;
use arrow_schema::DataType as ArrowType;

use crate::aggregators::{AggregateCall, Aggregators};
use crate::emit::emit;
use crate::error::internal;
use crate::state::GroupIndex;
use crate::state::frames::{restore_rows, snapshot_rows};
use crate::state::net_changes::NetChanges;

const STATE: &str = "groups";

/// What a [`GroupAggregateOperator`] computes.
#[derive(Clone, Debug)]
pub struct GroupAggregateParameters {
    /// The types of the input's columns.
    pub types: Vec<DataType>,
    /// The key columns; none for one group of all rows.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<AggregateCall>,
    /// True when the input never retracts.
    pub append_only: bool,
}

/// Aggregates groups. See the module's description.
pub struct GroupAggregateOperator {
    keys: Vec<usize>,
    append_only: bool,
    index: GroupIndex,
    aggregators: Aggregators,
    changes: NetChanges,
    groups: Vec<u32>,
    /// The types of the columns of the state: the keys, then the aggregators'.
    state_types: Vec<DataType>,
    /// Whether the only group has a result without rows.
    emits_empty: bool,
    /// Whether that result is still to be emitted by this instance.
    is_unborn: bool,
    context: Option<OperatorContext>,
}

impl GroupAggregateOperator {
    /// Aggregates as `parameters` say.
    ///
    /// # Errors
    /// When an aggregate function does not exist or does not take its arguments.
    pub fn new(parameters: &GroupAggregateParameters) -> Result<Self> {
        let key_types: Vec<DataType> = parameters
            .keys
            .iter()
            .map(|key| parameters.types[*key].clone())
            .collect();
        let arrow: Vec<ArrowType> = key_types.iter().map(DataType::to_arrow).collect();
        let aggregators =
            Aggregators::new(&parameters.calls, &parameters.types, parameters.append_only)?;
        Ok(GroupAggregateOperator {
            keys: parameters.keys.clone(),
            append_only: parameters.append_only,
            index: GroupIndex::new(&arrow).map_err(internal)?,
            state_types: key_types
                .into_iter()
                .chain(aggregators.state_types())
                .collect(),
            aggregators,
            changes: NetChanges::default(),
            groups: Vec::new(),
            emits_empty: false,
            is_unborn: false,
            context: None,
        })
    }

    /// Lets an aggregation without keys have a result (such as a count of 0) also while there are no rows, as SQL
    /// says and batch mode does. With keys this changes nothing.
    #[must_use]
    pub fn emitting_empty_result(mut self) -> Self {
        self.emits_empty = self.keys.is_empty();
        self
    }

    fn exists(&self, group: u32) -> bool {
        self.emits_empty || self.aggregators.rows(group) > 0
    }

    /// Puts the results of groups aside that the epoch has not touched yet.
    fn touch(&mut self, groups: &[u32]) -> Result<()> {
        self.aggregators.resize(self.index.bound());
        let first = self.changes.touch(groups, self.index.bound());
        if !first.is_empty() {
            let is_unborn = std::mem::take(&mut self.is_unborn);
            let (aggregators, emits_empty) = (&self.aggregators, self.emits_empty);
            let existed = |group: u32| !is_unborn && (emits_empty || aggregators.rows(group) > 0);
            self.changes
                .remember(&first, existed, |living| aggregators.values(living))?;
        }
        Ok(())
    }
}

impl EpochOperator for GroupAggregateOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.is_unborn = self.emits_empty && context.worker == 0;
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
        let arity = self.keys.len();
        let keys: Vec<usize> = (0..arity).collect();
        self.is_unborn = false;
        let types = self.state_types.clone();
        restore_rows(state, STATE, &types, &keys, &context, |batch| {
            let (keys, state) = batch.columns().split_at(arity);
            self.index
                .assign(keys, batch.len(), &mut self.groups)
                .map_err(internal)?;
            self.aggregators.resize(self.index.bound());
            self.aggregators.merge(&self.groups, state)
        })
    }

    fn process(&mut self, _: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        if self.append_only && !batch.is_append_only() {
            return Err(internal(
                "an aggregation was planned for append-only input, but a row was retracted",
            ));
        }
        let keys: Vec<ArrayRef> = self
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        let mut groups = std::mem::take(&mut self.groups);
        self.index
            .assign(&keys, batch.len(), &mut groups)
            .map_err(internal)?;
        self.touch(&groups)?;
        self.aggregators.accumulate(&groups, &batch)?;
        self.groups = groups;
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        if self.is_unborn {
            self.index
                .assign(&[], 1, &mut self.groups)
                .map_err(internal)?;
            self.touch(&[0])?;
        }
        let touched = self.changes.touched().to_vec();
        if touched.is_empty() {
            return Ok(EpochEnd::Done);
        }
        let exists: Vec<bool> = touched.iter().map(|group| self.exists(*group)).collect();
        let new = self.aggregators.values(&touched)?;
        for batch in self
            .changes
            .finish(&exists, &new)?
            .into_batches(|groups| self.index.keys(groups))?
        {
            emit(output, batch);
        }
        // Fewer than no rows: what was retracted had never been there, and is ignored.
        let mut gone = touched;
        gone.retain(|group| self.aggregators.rows(*group) <= 0);
        self.aggregators.clear(&gone);
        if !self.emits_empty {
            self.index.remove(&gone);
        }
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let groups = self.index.groups();
        let mut columns = self.index.keys(&groups).map_err(internal)?;
        columns.extend(self.aggregators.state(&groups)?);
        let batch = ChangeBatch::new(columns, None, groups.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.state_types, batch);
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let bytes = self.index.size_bytes() + self.aggregators.size_bytes();
        StateSize {
            bytes: bytes as u64,
            keys: self.index.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;

//! A HOP window put together from its slices.

use aquifer_runtime::error::Result;
use arrow_schema::DataType as ArrowType;

use crate::aggregators::Aggregators;
use crate::emit::BATCH;
use crate::error::internal;
use crate::state::GroupIndex;

/// The slices of one HOP window, added up.
///
/// When all accumulators are linear, the window is carried on from one end to the next: slices that leave it are
/// taken out and only new ones are put in, so that the cost of a window does not depend on the number of its slices.
pub(super) struct HopWindow {
    pub(super) index: GroupIndex,
    pub(super) aggregators: Aggregators,
    /// The end of the window that it holds, of which slices that left were taken out; `None` when it must be put
    /// together anew.
    pub(super) end: Option<i64>,
    /// By group, how many slices of the window have the key.
    slices: Vec<u32>,
    groups: Vec<u32>,
}

impl HopWindow {
    /// An empty window of keys of these types.
    pub(super) fn new(key_types: &[ArrowType], aggregators: Aggregators) -> Result<Self> {
        Ok(HopWindow {
            index: GroupIndex::new(key_types).map_err(internal)?,
            aggregators,
            end: None,
            slices: Vec::new(),
            groups: Vec::new(),
        })
    }

    pub(super) fn clear(&mut self) {
        let groups = self.index.groups();
        self.slices.fill(0);
        self.aggregators.clear(&groups);
        self.index.remove(&groups);
    }

    pub(super) fn put_in(
        &mut self,
        index: &GroupIndex,
        aggregators: &Aggregators,
        groups: &[u32],
    ) -> Result<()> {
        for part in groups.chunks(BATCH) {
            self.assign(index, part)?;
            for group in &self.groups {
                self.slices[*group as usize] += 1;
            }
            self.aggregators
                .merge(&self.groups, &aggregators.state(part)?)?;
        }
        Ok(())
    }

    pub(super) fn take_out(
        &mut self,
        index: &GroupIndex,
        aggregators: &Aggregators,
        groups: &[u32],
    ) -> Result<()> {
        for part in groups.chunks(BATCH) {
            self.assign(index, part)?;
            self.aggregators
                .unmerge(&self.groups, &aggregators.state(part)?)?;
            let slices = &mut self.slices;
            self.groups.retain(|group| {
                let slices = &mut slices[*group as usize];
                *slices = slices.saturating_sub(1);
                *slices == 0
            });
            self.aggregators.clear(&self.groups);
            self.index.remove(&self.groups);
        }
        Ok(())
    }

    /// The groups of the keys of some slices' groups; each key is there once.
    fn assign(&mut self, index: &GroupIndex, groups: &[u32]) -> Result<()> {
        let mut keys = index.keys(groups).map_err(internal)?;
        keys.pop();
        self.index
            .assign(&keys, groups.len(), &mut self.groups)
            .map_err(internal)?;
        self.aggregators.resize(self.index.bound());
        self.slices
            .resize(self.index.bound().max(self.slices.len()), 0);
        Ok(())
    }
}

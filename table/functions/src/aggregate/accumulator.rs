//! The state of one aggregate for all groups.

use aquifer_types::DataType;
use arrow_array::{ArrayRef, Int64Array};

use crate::error::Result;

/// The state of one aggregate function for every group, by group id.
///
/// Ids are dense. The caller calls [`Self::resize`] before it uses an id for the first time; a
/// group that was never fed or was cleared is empty.
pub trait Accumulator: Send {
    /// Makes room for the group ids below `groups`; never shrinks.
    fn resize(&mut self, groups: usize);

    /// Takes rows: row `i` belongs to group `groups[i]`, has the arguments at `i`, and is added
    /// `weights[i]` times (once without weights; taken back if negative).
    ///
    /// # Errors
    /// `function.runtime` if a result becomes too large, or if a row is taken back that a form for
    /// added rows cannot take back.
    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()>;

    /// Returns the result of each of the groups, in the given order.
    ///
    /// # Errors
    /// `types.arrow` if the column becomes too large.
    fn value(&self, groups: &[u32]) -> Result<ArrayRef>;

    /// Empties groups, so that their ids can be used anew.
    fn clear(&mut self, groups: &[u32]);

    /// Returns the types of the state's columns.
    fn state_types(&self) -> Vec<DataType>;

    /// Returns the state of the groups: one row per group, in the given order.
    ///
    /// # Errors
    /// `types.arrow` if a column becomes too large.
    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>>;

    /// Adds state that [`Self::snapshot`] returned, row `i` to group `groups[i]`.
    ///
    /// # Errors
    /// As [`Self::accumulate`].
    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()>;

    /// Whether the state is columns of exact numbers that add up, so that merging the negated state
    /// of some rows takes those rows back. Then a sliding window can be carried on instead of being
    /// put together anew.
    fn is_linear(&self) -> bool {
        false
    }

    /// Puts back state into groups that are empty.
    ///
    /// # Errors
    /// As [`Self::merge`].
    fn restore(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.merge(groups, state)
    }

    /// Returns the memory used.
    fn size_bytes(&self) -> usize;
}

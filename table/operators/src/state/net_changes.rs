//! The net change of an epoch, for operators that keep one output row per group.
//!
//! When a group is touched for the first time in an epoch its output row is put aside, column-wise for all groups of a
//! batch; at the end of the epoch the new rows are compared with it. So a group changes by at most one retraction and
//! one insertion per epoch, and no copy of the output has to be kept between epochs.

use aquifer_runtime::error::Result;
use aquifer_types::ChangeBatch;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use arrow_ord::cmp::distinct;
use arrow_row::{RowConverter, SortField};
use arrow_schema::ArrowError;
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;

use crate::error::internal;

/// The groups touched in the current epoch and what their output rows were. See the module's description.
#[derive(Default)]
pub(crate) struct NetChanges {
    epoch: u32,
    touched_in: Vec<u32>,
    touched: Vec<u32>,
    existed: Vec<bool>,
    old: Vec<Vec<ArrayRef>>,
}

impl NetChanges {
    /// The groups of `groups` that are touched for the first time in this epoch, each once. The caller must hand
    /// over their output rows with [`remember`](Self::remember) before it changes them.
    pub(crate) fn touch(&mut self, groups: &[u32], bound: usize) -> Vec<u32> {
        // Stamps start at 0, so the first epoch is 1.
        let stamp = self.epoch + 1;
        self.touched_in.resize(bound.max(self.touched_in.len()), 0);
        let mut first = Vec::new();
        for group in groups {
            let touched_in = &mut self.touched_in[*group as usize];
            if *touched_in != stamp {
                *touched_in = stamp;
                first.push(*group);
            }
        }
        first
    }

    /// Takes the output rows of the groups that `touch` answered: whether each has one, and its columns (arbitrary
    /// where it has none).
    pub(crate) fn remember(
        &mut self,
        groups: &[u32],
        existed: impl Iterator<Item = bool>,
        columns: Vec<ArrayRef>,
    ) {
        if !groups.is_empty() {
            self.touched.extend_from_slice(groups);
            self.existed.extend(existed);
            self.old.push(columns);
        }
    }

    /// All groups touched in this epoch.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Ends the epoch. `exists` and `new` are the output rows of the [`touched`](Self::touched) groups, in order.
    /// Answers the change as row numbers of `new` and weights with the columns themselves: retractions first.
    pub(crate) fn finish(
        &mut self,
        exists: &[bool],
        new: &[ArrayRef],
    ) -> Result<Option<NetChange>> {
        let touched = std::mem::take(&mut self.touched);
        let existed = std::mem::take(&mut self.existed);
        let parts = std::mem::take(&mut self.old);
        self.next_epoch();
        if touched.is_empty() {
            return Ok(None);
        }
        let old = (0..new.len()).map(|column| {
            let parts: Vec<&dyn Array> = parts.iter().map(|part| part[column].as_ref()).collect();
            concat(&parts)
        });
        let old: Vec<ArrayRef> = old.collect::<Result<_, ArrowError>>().map_err(internal)?;
        let changed = rows_differ(&old, new, touched.len()).map_err(internal)?;
        let differs = |at: usize| existed[at] != exists[at] || changed.value(at);
        // Sources of `interleave`: 0 is the old rows, 1 the new ones.
        let retracted = (0..touched.len())
            .filter(|at| existed[*at] && differs(*at))
            .map(|at| (0, at));
        let mut picks: Vec<(usize, usize)> = retracted.collect();
        let retractions = picks.len();
        picks.extend(
            (0..touched.len())
                .filter(|at| exists[*at] && differs(*at))
                .map(|at| (1, at)),
        );
        if picks.is_empty() {
            return Ok(None);
        }
        let columns = old
            .iter()
            .zip(new)
            .map(|(old, new)| interleave(&[old.as_ref(), new.as_ref()], &picks));
        let columns = columns
            .collect::<Result<Vec<_>, ArrowError>>()
            .map_err(internal)?;
        let groups = picks.iter().map(|(_, at)| touched[*at]).collect();
        Ok(Some(NetChange {
            groups,
            retractions,
            columns,
        }))
    }

    fn next_epoch(&mut self) {
        self.epoch += 1;
        if self.epoch == u32::MAX {
            self.epoch = 0;
            self.touched_in.fill(0);
        }
    }
}

/// What [`NetChanges::finish`] answers.
pub(crate) struct NetChange {
    /// The group of each changed row.
    pub(crate) groups: Vec<u32>,
    /// So many rows at the start are retractions; the rest are insertions.
    pub(crate) retractions: usize,
    /// The output columns.
    pub(crate) columns: Vec<ArrayRef>,
}

impl NetChange {
    /// The change as a batch, with other columns before the output columns.
    pub(crate) fn into_batch(self, mut leading: Vec<ArrayRef>) -> Result<ChangeBatch> {
        let rows = self.groups.len();
        let weights = (self.retractions > 0).then(|| {
            Int64Array::from_iter_values(
                (0..rows).map(|row| if row < self.retractions { -1 } else { 1 }),
            )
        });
        leading.extend(self.columns);
        ChangeBatch::new(leading, weights, rows).map_err(internal)
    }
}

/// Where the rows of `a` and `b` differ; NULL equals NULL.
pub(crate) fn rows_differ(
    a: &[ArrayRef],
    b: &[ArrayRef],
    rows: usize,
) -> Result<BooleanArray, ArrowError> {
    let mut differs = BooleanBuffer::new_unset(rows);
    for (a, b) in a.iter().zip(b) {
        if a.data_type().is_null() {
            continue;
        }
        let column = if a.data_type().is_nested() {
            let converter = RowConverter::new(vec![SortField::new(a.data_type().clone())])?;
            let (a, b) = (
                converter.convert_columns(std::slice::from_ref(a))?,
                converter.convert_columns(std::slice::from_ref(b))?,
            );
            a.iter().zip(b.iter()).map(|(a, b)| a != b).collect()
        } else {
            distinct(a, b)?.values().clone()
        };
        differs = &differs | &column;
    }
    Ok(BooleanArray::new(differs, None))
}

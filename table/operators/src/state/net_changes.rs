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
use arrow_select::filter::FilterBuilder;

use crate::error::internal;

/// The groups touched in the current epoch and what their output rows were. See the module's description.
#[derive(Default)]
pub(crate) struct NetChanges {
    epoch: u32,
    touched_in: Vec<u32>,
    touched: Vec<u32>,
    /// Whether each touched group had an output row.
    existed: Vec<bool>,
    /// The output rows of those that had one, in parts.
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

    /// Takes in groups that `touch` answered: whether each has an output row, and with `rows` those rows as columns,
    /// given the groups that have one.
    pub(crate) fn remember(
        &mut self,
        groups: &[u32],
        existed: impl Fn(u32) -> bool,
        rows: impl FnOnce(&[u32]) -> Result<Vec<ArrayRef>>,
    ) -> Result<()> {
        let before = self.existed.len();
        self.touched.extend_from_slice(groups);
        self.existed
            .extend(groups.iter().map(|group| existed(*group)));
        let existed = &self.existed[before..];
        if existed.iter().all(|existed| *existed) {
            if !groups.is_empty() {
                self.old.push(rows(groups)?);
            }
            return Ok(());
        }
        let living: Vec<u32> = groups
            .iter()
            .zip(existed)
            .filter(|(_, existed)| **existed)
            .map(|(group, _)| *group)
            .collect();
        if !living.is_empty() {
            self.old.push(rows(&living)?);
        }
        Ok(())
    }

    /// All groups touched in this epoch.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Ends the epoch. `exists` and `new` are the output rows of the [`touched`](Self::touched) groups, in order; the
    /// columns are arbitrary where a row does not exist.
    pub(crate) fn finish(&mut self, exists: &[bool], new: &[ArrayRef]) -> Result<NetChange> {
        let touched = std::mem::take(&mut self.touched);
        let existed = std::mem::take(&mut self.existed);
        let old = std::mem::take(&mut self.old);
        self.next_epoch();
        let exists: BooleanBuffer = exists.iter().copied().collect();
        let existed: BooleanBuffer = existed.iter().copied().collect();
        net_change(&touched, &existed, old, &exists, new).map_err(internal)
    }

    fn next_epoch(&mut self) {
        self.epoch += 1;
        if self.epoch == u32::MAX {
            self.epoch = 0;
            self.touched_in.fill(0);
        }
    }
}

fn net_change(
    touched: &[u32],
    existed: &BooleanBuffer,
    old: Vec<Vec<ArrayRef>>,
    exists: &BooleanBuffer,
    new: &[ArrayRef],
) -> Result<NetChange, ArrowError> {
    let old = match old.len() {
        0 => {
            let inserted = selected(touched, new, exists)?;
            return Ok(NetChange {
                retracted: Rows::default(),
                inserted,
            });
        }
        _ => concat_parts(old, new.len())?,
    };
    // The new rows of the groups that had one before, beside `old`.
    let beside = selected(touched, new, existed)?;
    let still = filtered(exists, existed);
    let differs = rows_differ(&old, &beside.columns, beside.groups.len())?;
    let differs = &differs | &!&still;
    let retracted = selected(&beside.groups, &old, &differs)?;
    let mut old_at = 0;
    let inserts = |at: usize| {
        let changed = !existed.value(at) || {
            old_at += 1;
            differs.value(old_at - 1)
        };
        changed && exists.value(at)
    };
    let inserts: BooleanBuffer = (0..touched.len()).map(inserts).collect();
    let inserted = selected(touched, new, &inserts)?;
    Ok(NetChange {
        retracted,
        inserted,
    })
}

fn concat_parts(
    mut parts: Vec<Vec<ArrayRef>>,
    columns: usize,
) -> Result<Vec<ArrayRef>, ArrowError> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let column = |column: usize| {
        let parts: Vec<&dyn Array> = parts.iter().map(|part| part[column].as_ref()).collect();
        concat(&parts)
    };
    (0..columns).map(column).collect()
}

/// The values of `bits` where `selection` is set.
fn filtered(bits: &BooleanBuffer, selection: &BooleanBuffer) -> BooleanBuffer {
    selection.set_indices().map(|at| bits.value(at)).collect()
}

/// The rows where `selection` is set.
fn selected(
    groups: &[u32],
    columns: &[ArrayRef],
    selection: &BooleanBuffer,
) -> Result<Rows, ArrowError> {
    let count = selection.count_set_bits();
    if count == groups.len() {
        return Ok(Rows {
            groups: groups.to_vec(),
            columns: columns.to_vec(),
        });
    }
    let selection = BooleanArray::new(selection.clone(), None);
    let filter = FilterBuilder::new(&selection).optimize().build();
    let columns = columns
        .iter()
        .map(|column| filter.filter(column))
        .collect::<Result<_, _>>()?;
    Ok(Rows {
        groups: selection
            .values()
            .set_indices()
            .map(|at| groups[at])
            .collect(),
        columns,
    })
}

/// Output rows of groups.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) groups: Vec<u32>,
    columns: Vec<ArrayRef>,
}

/// What [`NetChanges::finish`] answers.
pub(crate) struct NetChange {
    retracted: Rows,
    inserted: Rows,
}

impl NetChange {
    /// The change as batches, retractions first, with the columns that `leading` gives for the rows' groups before
    /// the output columns. A small change is one batch.
    pub(crate) fn into_batches(
        self,
        leading: impl Fn(&[u32]) -> Result<Vec<ArrayRef>, ArrowError>,
    ) -> Result<Vec<ChangeBatch>> {
        let mut batches = Vec::new();
        for (rows, weight) in [(self.retracted, -1), (self.inserted, 1)] {
            let count = rows.groups.len();
            if count > 0 {
                let mut columns = leading(&rows.groups).map_err(internal)?;
                columns.extend(rows.columns);
                let weights = (weight != 1).then(|| Int64Array::from_value(weight, count));
                batches.push(ChangeBatch::new(columns, weights, count).map_err(internal)?);
            }
        }
        if batches.len() == 2 && batches.iter().map(ChangeBatch::len).sum::<usize>() <= SMALL {
            batches = vec![ChangeBatch::concat(&batches).map_err(internal)?];
        }
        Ok(batches)
    }
}

/// Up to so many rows one batch is cheaper than two, although it must be copied together.
const SMALL: usize = 2048;

/// Where the rows of `a` and `b` differ; NULL equals NULL.
fn rows_differ(a: &[ArrayRef], b: &[ArrayRef], rows: usize) -> Result<BooleanBuffer, ArrowError> {
    let mut differs = BooleanBuffer::new_unset(rows);
    for (a, b) in a.iter().zip(b) {
        if differs.count_set_bits() == rows {
            break;
        }
        let column = column_differs(a, b)?;
        differs = &differs | &column;
    }
    Ok(differs)
}

/// Where two columns of one type differ; NULL equals NULL.
pub(crate) fn column_differs(a: &ArrayRef, b: &ArrayRef) -> Result<BooleanBuffer, ArrowError> {
    if a.data_type().is_null() {
        return Ok(BooleanBuffer::new_unset(a.len()));
    }
    if !a.data_type().is_nested() {
        return Ok(distinct(a, b)?.values().clone());
    }
    let converter = RowConverter::new(vec![SortField::new(a.data_type().clone())])?;
    let a = converter.convert_columns(std::slice::from_ref(a))?;
    let b = converter.convert_columns(std::slice::from_ref(b))?;
    Ok(a.iter().zip(b.iter()).map(|(a, b)| a != b).collect())
}

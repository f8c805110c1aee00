//! First or last row of each key, by arrival or by event time.
//!
//! The input is append-only. By arrival, the first row never changes and the output is append-only; else a key's row
//! is replaced: one retraction and one insertion per epoch. By event time a tie keeps the earlier arrival for the
//! first row, and takes the later one for the last row. State: one row per key, for ever.
//!
//! Semantics: Flink's deduplication (`ROW_NUMBER() OVER (PARTITION BY key ORDER BY time) = 1`).

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::Array;

use crate::error::internal;
use crate::latest_row::LatestRows;

/// Which row of a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Keep {
    /// The earliest.
    First,
    /// The latest.
    Last,
}

/// Keeps one row per key. See the module's description.
pub struct DeduplicateOperator {
    rows: LatestRows,
    /// The time column; `None` orders by arrival.
    rowtime: Option<usize>,
    keep: Keep,
    context: Option<OperatorContext>,
    /// Scratch: per key the best row of the batch at hand, else [`NO_ROW`].
    best: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

impl DeduplicateOperator {
    /// For rows of these types, keyed by the columns `keys`, ordered by the time column `rowtime` or by arrival.
    ///
    /// # Errors
    /// When the types cannot be stored or the time column is no timestamp.
    pub fn new(
        types: Vec<DataType>,
        keys: Vec<usize>,
        rowtime: Option<usize>,
        keep: Keep,
    ) -> Result<Self> {
        if let Some(time) = rowtime.filter(|time| !types[*time].logical.is_timestamp()) {
            return Err(internal(format!(
                "deduplication orders by column {time}, which is no timestamp"
            )));
        }
        Ok(DeduplicateOperator {
            rows: LatestRows::new(types, keys)?,
            rowtime,
            keep,
            context: None,
            best: Vec::new(),
        })
    }
}

impl EpochOperator for DeduplicateOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .as_ref()
            .ok_or_else(|| internal("restore comes after open"))?;
        self.rows.restore(state, context)
    }

    fn process(&mut self, _: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        if !batch.is_append_only() {
            return Err(internal(
                "a deduplication was planned for append-only input, but a row was retracted",
            ));
        }
        let groups = self.rows.groups(&batch)?;
        let times = match self.rowtime {
            None => None,
            Some(column) => {
                let new = batch.column(column);
                if new.null_count() > 0 {
                    return Err(RuntimeError::user(format!(
                        "the event time in column {column} is NULL: deduplication cannot order the row"
                    )));
                }
                Some((words(new), words(&self.rows.column(column, &groups)?)))
            }
        };
        // The best row of the batch for each key that it changes.
        self.best.resize(
            groups
                .iter()
                .max()
                .map_or(0, |group| *group as usize + 1)
                .max(self.best.len()),
            NO_ROW,
        );
        let wins = |time: i64, other: i64| match self.keep {
            Keep::First => time < other,
            Keep::Last => time >= other,
        };
        for row in (0..groups.len()).filter(|row| batch.weight(*row) > 0) {
            let group = groups[row];
            let best = &mut self.best[group as usize];
            let better = match (*best, &times) {
                (NO_ROW, _) if !self.rows.exists(group) => true,
                (NO_ROW, Some((new, stored))) => wins(new[row], stored[row]),
                (other, Some((new, _))) => wins(new[row], new[other as usize]),
                (_, None) => self.keep == Keep::Last,
            };
            if better {
                *best = row as u32;
            }
        }
        let (mut rows, mut keys) = (Vec::new(), Vec::new());
        for group in groups {
            let row = std::mem::replace(&mut self.best[group as usize], NO_ROW);
            if row != NO_ROW {
                rows.push(row);
                keys.push(group);
            }
        }
        self.rows.set(&batch, &rows, &keys, &vec![true; rows.len()])
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        self.rows.end_epoch(output)?;
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.rows.snapshot(snapshot)
    }

    fn state_size(&self) -> StateSize {
        self.rows.state_size()
    }
}

fn words(column: &arrow_array::ArrayRef) -> Vec<i64> {
    let mut words = Vec::with_capacity(column.len());
    crate::state::for_each_word(column.as_ref(), |_, word| words.push(word as i64));
    words
}

#[cfg(test)]
mod tests;

//! The rows of a decoder: columns that grow, and which rows of them are to be thrown away.

use aquifer_table_common::connector::DecoderContext;
use aquifer_types::{ChangeBatch, ColumnBuilder};
use arrow_array::BooleanArray;

use crate::append;

/// Rows per batch that columns are made ready for.
const CAPACITY: usize = 1024;

/// Collects the rows of a decoder, column by column.
///
/// All columns have [`Collector::rows`] values whenever no record is being read.
pub(crate) struct Collector {
    pub(crate) columns: Vec<ColumnBuilder>,
    rows: usize,
    /// Rows that were not valid, ascending.
    rejected: Vec<usize>,
    skipped: u64,
}

impl Collector {
    pub(crate) fn new(context: &DecoderContext) -> Self {
        let column =
            |index: &usize| ColumnBuilder::new(&context.fields[*index].data_type, CAPACITY);
        Collector {
            columns: context.projection.iter().map(column).collect(),
            rows: 0,
            rejected: Vec::new(),
            skipped: 0,
        }
    }

    /// The rows so far, those to be thrown away included.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// All columns have `count` more values.
    pub(crate) fn add_rows(&mut self, count: usize) {
        self.rows += count;
    }

    /// Ends the record being read, of which any part may have been appended, and throws it away.
    pub(crate) fn reject_current(&mut self) {
        self.rows += 1;
        for column in &mut self.columns {
            append::settle(column, self.rows);
        }
        self.rejected.push(self.rows - 1);
    }

    /// Throws rows away, which must come after those thrown away before.
    pub(crate) fn reject(&mut self, rows: impl IntoIterator<Item = usize>) {
        self.rejected.extend(rows);
    }

    /// Counts records that were skipped.
    pub(crate) fn count_skipped(&mut self, records: u64) {
        self.skipped += records;
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The rows that are valid, as a batch.
    pub(crate) fn take(&mut self) -> ChangeBatch {
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let rows = std::mem::take(&mut self.rows);
        let batch =
            ChangeBatch::new(columns, None, rows).expect("each column has one value per row");
        if self.rejected.is_empty() {
            return batch;
        }
        let mut keep = vec![true; rows];
        self.rejected.drain(..).for_each(|row| keep[row] = false);
        batch
            .filter(&BooleanArray::from(keep))
            .expect("the selection has one value per row")
    }
}

//! The batch and its builder.

use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, UInt32Array};
use arrow_select::concat::concat;
use arrow_select::filter::FilterBuilder;
use arrow_select::take::take;

use super::column_builder::ColumnBuilder;
use super::column_value::column_value;
use crate::data_type::DataType;
use crate::error::{Result, TypesError};
use crate::row::Row;
use crate::row_kind::RowKind;
use crate::value::Value;

/// Arrow columns of equal length and a signed weight per row.
///
/// Cloning is cheap: columns are shared.
#[derive(Debug, Clone, Default)]
pub struct ChangeBatch {
    columns: Vec<ArrayRef>,
    weights: Option<Int64Array>,
    rows: usize,
}

impl ChangeBatch {
    /// Makes a batch; absent weights mean that every row is added once.
    ///
    /// # Errors
    /// `types.column_length` if a column or the weights do not have `rows` rows.
    pub fn new(columns: Vec<ArrayRef>, weights: Option<Int64Array>, rows: usize) -> Result<Self> {
        let lengths = columns
            .iter()
            .map(|c| c.len())
            .chain(weights.iter().map(Array::len));
        for (column, found) in lengths.enumerate() {
            if found != rows {
                return Err(TypesError::ColumnLength {
                    column,
                    expected: rows,
                    found,
                });
            }
        }
        Ok(Self {
            columns,
            weights,
            rows,
        })
    }

    /// Makes a batch without rows.
    #[must_use]
    pub fn empty(types: &[DataType]) -> Self {
        let columns = types
            .iter()
            .map(|t| ColumnBuilder::new(t, 0).finish())
            .collect();
        Self {
            columns,
            weights: None,
            rows: 0,
        }
    }

    /// Makes a batch from rows; their kinds become weights.
    ///
    /// # Errors
    /// As [`ChangeBatchBuilder::push`].
    pub fn from_rows(rows: &[Row], types: &[DataType]) -> Result<Self> {
        let mut builder = ChangeBatchBuilder::new(types, rows.len());
        for row in rows {
            builder.push(row)?;
        }
        Ok(builder.finish())
    }

    /// Returns the columns.
    #[must_use]
    pub fn columns(&self) -> &[ArrayRef] {
        &self.columns
    }

    /// Returns a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn column(&self, index: usize) -> &ArrayRef {
        &self.columns[index]
    }

    /// Returns the columns and weights, consuming the batch.
    #[must_use]
    pub fn into_parts(self) -> (Vec<ArrayRef>, Option<Int64Array>) {
        (self.columns, self.weights)
    }

    /// Returns the weights; nothing if every row is added once.
    #[must_use]
    pub fn weights(&self) -> Option<&Int64Array> {
        self.weights.as_ref()
    }

    /// Returns the weight of a row.
    #[must_use]
    pub fn weight(&self, row: usize) -> i64 {
        self.weights.as_ref().map_or(1, |w| w.value(row))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether every row is added, so that nothing is taken back.
    #[must_use]
    pub fn is_append_only(&self) -> bool {
        self.weights
            .as_ref()
            .is_none_or(|w| w.values().iter().all(|w| *w >= 0))
    }

    /// Returns the same rows with other columns, which must have as many rows.
    ///
    /// # Errors
    /// `types.column_length` if a column has another number of rows.
    pub fn with_columns(&self, columns: Vec<ArrayRef>) -> Result<Self> {
        Self::new(columns, self.weights.clone(), self.rows)
    }

    /// Returns the batch with all weights negated.
    #[must_use]
    pub fn negate(&self) -> Self {
        let weights = match &self.weights {
            Some(weights) => weights.unary(i64::wrapping_neg),
            None => Int64Array::from_value(-1, self.rows),
        };
        Self {
            columns: self.columns.clone(),
            weights: Some(weights),
            rows: self.rows,
        }
    }

    /// Returns the rows at the given indices, in that order.
    ///
    /// # Errors
    /// `types.arrow` if an index is out of range.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self> {
        let columns = self
            .columns
            .iter()
            .map(|column| take(column, indices, None))
            .collect::<std::result::Result<_, _>>()?;
        let weights = match &self.weights {
            Some(weights) => Some(to_weights(&take(weights, indices, None)?)),
            None => None,
        };
        Ok(Self {
            columns,
            weights,
            rows: indices.len(),
        })
    }

    /// Returns the rows where the selection is true.
    ///
    /// # Errors
    /// `types.arrow` if the selection has another length.
    pub fn filter(&self, selection: &BooleanArray) -> Result<Self> {
        if selection.len() != self.rows {
            return Err(TypesError::ColumnLength {
                column: self.columns.len(),
                expected: self.rows,
                found: selection.len(),
            });
        }
        let predicate = FilterBuilder::new(selection).optimize().build();
        let rows = predicate.count();
        if rows == self.rows {
            return Ok(self.clone());
        }
        let columns = self
            .columns
            .iter()
            .map(|column| predicate.filter(column))
            .collect::<std::result::Result<_, _>>()?;
        let weights = match &self.weights {
            Some(weights) => Some(to_weights(&predicate.filter(weights)?)),
            None => None,
        };
        Ok(Self {
            columns,
            weights,
            rows,
        })
    }

    /// Returns the batch of the given columns, in that order.
    ///
    /// # Panics
    /// If a column does not exist.
    #[must_use]
    pub fn project(&self, columns: &[usize]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|c| Arc::clone(&self.columns[*c]))
                .collect(),
            weights: self.weights.clone(),
            rows: self.rows,
        }
    }

    /// Returns `length` rows from `offset` on, without copying.
    ///
    /// # Panics
    /// If they go beyond the end.
    #[must_use]
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        assert!(offset + length <= self.rows, "slice within the batch");
        Self {
            columns: self
                .columns
                .iter()
                .map(|c| c.slice(offset, length))
                .collect(),
            weights: self.weights.as_ref().map(|w| w.slice(offset, length)),
            rows: length,
        }
    }

    /// Returns all rows of all batches, in order; the batches must have the same columns.
    ///
    /// # Errors
    /// `types.column_count` or `types.arrow` if they do not.
    pub fn concat(batches: &[Self]) -> Result<Self> {
        let (first, rest) = match batches {
            [] => return Ok(Self::default()),
            [one] => return Ok(one.clone()),
            [first, rest @ ..] => (first, rest),
        };
        for batch in rest {
            if batch.columns.len() != first.columns.len() {
                return Err(TypesError::ColumnCount {
                    expected: first.columns.len(),
                    found: batch.columns.len(),
                });
            }
        }
        let columns = (0..first.columns.len())
            .map(|i| {
                let parts: Vec<&dyn Array> =
                    batches.iter().map(|b| b.columns[i].as_ref()).collect();
                concat(&parts)
            })
            .collect::<std::result::Result<_, _>>()?;
        let rows = batches.iter().map(Self::len).sum();
        let weights = batches.iter().any(|b| b.weights.is_some()).then(|| {
            let mut weights = Vec::with_capacity(rows);
            for batch in batches {
                match &batch.weights {
                    Some(w) => weights.extend_from_slice(w.values()),
                    None => weights.resize(weights.len() + batch.rows, 1),
                }
            }
            Int64Array::from(weights)
        });
        Ok(Self {
            columns,
            weights,
            rows,
        })
    }

    /// Returns a row; a positive weight gives `+I`, a negative one `-D`.
    ///
    /// # Panics
    /// If the columns are not of the types, or the row is beyond the end.
    #[must_use]
    pub fn row(&self, row: usize, types: &[DataType]) -> Row {
        let fields = self
            .columns
            .iter()
            .zip(types)
            .map(|(column, data_type)| column_value(column, row, data_type))
            .collect();
        let kind = if self.weight(row) < 0 {
            RowKind::Delete
        } else {
            RowKind::Insert
        };
        Row::of_kind(kind, fields)
    }

    /// Returns all rows as [`Self::row`] does, a row of weight n occurring n times.
    #[must_use]
    pub fn to_rows(&self, types: &[DataType]) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.rows);
        for i in 0..self.rows {
            let row = self.row(i, types);
            for _ in 0..self.weight(i).unsigned_abs() {
                rows.push(row.clone());
            }
        }
        rows
    }

    /// Returns the memory that the columns and weights hold, shared parts counted fully.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|c| c.get_array_memory_size()).sum();
        columns
            + self
                .weights
                .as_ref()
                .map_or(0, Array::get_array_memory_size)
    }
}

fn to_weights(array: &ArrayRef) -> Int64Array {
    use arrow_array::cast::AsArray;
    array.as_primitive().clone()
}

/// Collects rows into a [`ChangeBatch`].
#[derive(Debug)]
pub struct ChangeBatchBuilder {
    columns: Vec<ColumnBuilder>,
    weights: Int64Builder,
    has_weights: bool,
    rows: usize,
}

impl ChangeBatchBuilder {
    /// Starts an empty batch with room for `capacity` rows.
    #[must_use]
    pub fn new(types: &[DataType], capacity: usize) -> Self {
        Self {
            columns: types
                .iter()
                .map(|t| ColumnBuilder::new(t, capacity))
                .collect(),
            weights: Int64Builder::new(),
            has_weights: false,
            rows: 0,
        }
    }

    /// Returns the number of rows so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a row; its kind gives the weight.
    ///
    /// # Errors
    /// `types.column_count` or what [`ColumnBuilder::push`] says; then drop the builder, because
    /// its columns may differ in length.
    pub fn push(&mut self, row: &Row) -> Result<()> {
        self.push_values(row.fields(), row.kind().weight())
    }

    /// Appends a row of values with a weight.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_values(&mut self, values: &[Value], weight: i64) -> Result<()> {
        if values.len() != self.columns.len() {
            return Err(TypesError::ColumnCount {
                expected: self.columns.len(),
                found: values.len(),
            });
        }
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value)?;
        }
        self.push_weight(weight);
        Ok(())
    }

    /// Returns the builder of a column, to append to it directly.
    ///
    /// Each column must get one value for each call of [`Self::push_weight`].
    pub fn column_mut(&mut self, index: usize) -> Option<&mut ColumnBuilder> {
        self.columns.get_mut(index)
    }

    /// Ends a row whose columns were appended directly.
    pub fn push_weight(&mut self, weight: i64) {
        // Weights cost nothing as long as every row is added once.
        if weight != 1 && !self.has_weights {
            self.has_weights = true;
            self.weights.append_value_n(1, self.rows);
        }
        if self.has_weights {
            self.weights.append_value(weight);
        }
        self.rows += 1;
    }

    /// Returns the batch and starts a new one.
    ///
    /// # Panics
    /// If columns were appended to directly, but not once per row.
    #[must_use]
    pub fn finish(&mut self) -> ChangeBatch {
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let weights = std::mem::take(&mut self.has_weights).then(|| self.weights.finish());
        let rows = std::mem::take(&mut self.rows);
        ChangeBatch::new(columns, weights, rows).expect("each column got one value per row")
    }
}

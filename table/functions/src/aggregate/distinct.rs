//! `DISTINCT`: each value of a group counts once.
//!
//! Per group, how often each value (or combination of values) occurs, keyed by its row form. The
//! inner accumulator is fed a value when it first occurs and has it taken back when it is gone. A
//! value that is only taken back so far has a negative count and is not seen by the inner one.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer_types::{DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_row::{RowConverter, SortField};
use arrow_select::take::take;

use super::accumulator::Accumulator;
use super::extremum::list;
use crate::error::Result;

/// Wraps an accumulator so that each value of a group counts once.
///
/// # Errors
/// `types.arrow` if the argument types have no row form.
pub fn distinct(
    arguments: &[DataType],
    inner: Box<dyn Accumulator>,
) -> Result<Box<dyn Accumulator>> {
    let fields = arguments
        .iter()
        .map(|t| SortField::new(t.to_arrow()))
        .collect();
    Ok(Box::new(DistinctAccumulator {
        inner,
        converter: RowConverter::new(fields)?,
        arguments: arguments.iter().map(|t| t.clone().null()).collect(),
        groups: Vec::new(),
        entries: 0,
        key_bytes: 0,
    }))
}

struct DistinctAccumulator {
    inner: Box<dyn Accumulator>,
    converter: RowConverter,
    arguments: Vec<DataType>,
    groups: Vec<HashMap<Box<[u8]>, i64, foldhash::fast::FixedState>>,
    entries: usize,
    key_bytes: usize,
}

impl DistinctAccumulator {
    /// Adds rows and returns which of them the inner accumulator must see, with what sign.
    fn count(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<(Vec<u32>, Vec<i64>)> {
        let nulls = args.iter().fold(None, |nulls, arg| {
            NullBuffer::union(nulls.as_ref(), arg.logical_nulls().as_ref())
        });
        let rows = self.converter.convert_columns(args)?;
        let (mut forwarded, mut signs) = (Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            let weight = weights.map_or(1, |w| w.value(i));
            if weight == 0 || nulls.as_ref().is_some_and(|n| n.is_null(i)) {
                continue;
            }
            let counts = &mut self.groups[groups[i] as usize];
            let key = row.as_ref();
            let (old, new) = match counts.get_mut(key) {
                Some(count) => {
                    let old = *count;
                    *count += weight;
                    (old, *count)
                }
                None => {
                    counts.insert(key.into(), weight);
                    self.entries += 1;
                    self.key_bytes += key.len();
                    (0, weight)
                }
            };
            if new == 0 {
                counts.remove(key);
                self.entries -= 1;
                self.key_bytes -= key.len();
            }
            let sign = i64::from(new > 0) - i64::from(old > 0);
            if sign != 0 {
                forwarded.push(i as u32);
                signs.push(sign);
            }
        }
        Ok((forwarded, signs))
    }

    /// Returns the keys of groups in the order of a snapshot: by key, so that it is reproducible.
    fn sorted(&self, group: u32) -> Vec<(&[u8], i64)> {
        let mut entries: Vec<(&[u8], i64)> = self.groups[group as usize]
            .iter()
            .map(|(k, n)| (k.as_ref(), *n))
            .collect();
        entries.sort_unstable();
        entries
    }
}

impl Accumulator for DistinctAccumulator {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize_with(groups, HashMap::default);
        }
        self.inner.resize(groups);
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let (forwarded, signs) = self.count(groups, args, weights)?;
        if forwarded.is_empty() {
            return Ok(());
        }
        let of: Vec<u32> = forwarded.iter().map(|i| groups[*i as usize]).collect();
        let rows = UInt32Array::from(forwarded);
        let args = args
            .iter()
            .map(|arg| take(arg, &rows, None))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let signs = signs
            .iter()
            .any(|s| *s < 0)
            .then(|| Int64Array::from(signs));
        self.inner.accumulate(&of, &args, signs.as_ref())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.inner.value(groups)
    }

    fn clear(&mut self, groups: &[u32]) {
        for group in groups {
            let old = std::mem::take(&mut self.groups[*group as usize]);
            self.entries -= old.len();
            self.key_bytes -= old.keys().map(|k| k.len()).sum::<usize>();
        }
        self.inner.clear(groups);
    }

    fn state_types(&self) -> Vec<DataType> {
        let mut types: Vec<DataType> = self
            .arguments
            .iter()
            .map(|t| DataTypes::array(t.clone()).not_null())
            .collect();
        types.push(DataTypes::array(DataTypes::bigint()).not_null());
        types
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        // Values, not row forms: those belong to one version of Arrow. The inner state follows
        // from them.
        let entries: Vec<Vec<(&[u8], i64)>> = groups.iter().map(|g| self.sorted(*g)).collect();
        let parser = self.converter.parser();
        let rows = entries.iter().flatten().map(|(key, _)| parser.parse(key));
        let lengths = || entries.iter().map(Vec::len);
        let mut columns = self
            .converter
            .convert_rows(rows)?
            .into_iter()
            .map(|column| list(column, lengths()))
            .collect::<Result<Vec<_>>>()?;
        let counts = entries.iter().flatten().map(|(_, count)| *count);
        columns.push(list(
            Arc::new(Int64Array::from_iter_values(counts)),
            lengths(),
        )?);
        Ok(columns)
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let (values, counts) = state.split_at(self.arguments.len());
        for (i, group) in groups.iter().enumerate() {
            let args: Vec<ArrayRef> = values.iter().map(|v| v.as_list::<i32>().value(i)).collect();
            let counts = counts[0].as_list::<i32>().value(i);
            let of = vec![*group; counts.len()];
            self.accumulate(&of, &args, Some(counts.as_primitive::<Int64Type>()))?;
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let entry = size_of::<(Box<[u8]>, i64)>() + 1;
        // Hash tables are filled between 44 and 88 percent.
        self.groups.capacity() * size_of::<HashMap<Box<[u8]>, i64>>()
            + self.entries * entry * 3 / 2
            + self.key_bytes
            + self.inner.size_bytes()
    }
}

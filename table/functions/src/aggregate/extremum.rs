//! The least or greatest value of each group.
//!
//! Three forms: one native value per group, one byte string per group (both for rows that are only
//! added), and an ordered multiset of all values per group, from which rows can be taken back.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_types::{DataType, DataTypes, LogicalType};
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, Int64Array, ListArray, PrimitiveArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;

use super::accumulator::Accumulator;
use super::keys::{from_keys, to_keys};
use crate::error::{FunctionError, Result};

fn taken_back() -> FunctionError {
    FunctionError::runtime("a row was taken back from an aggregate planned for added rows only")
}

fn only_added(weights: Option<&Int64Array>) -> Result<()> {
    match weights {
        Some(weights) if weights.values().iter().any(|w| *w < 0) => Err(taken_back()),
        _ => Ok(()),
    }
}

/// Rows that carry a value: not NULL and not of weight zero.
fn rows_with_values<'a>(
    nulls: Option<&'a NullBuffer>,
    weights: Option<&'a Int64Array>,
    rows: usize,
) -> impl Iterator<Item = usize> + 'a {
    (0..rows).filter(move |i| {
        nulls.is_none_or(|n| n.is_valid(*i)) && weights.is_none_or(|w| w.value(*i) != 0)
    })
}

/// One native value per group.
pub(super) struct Native<T: ArrowPrimitiveType> {
    values: Vec<Option<T::Native>>,
    greatest: bool,
    data_type: DataType,
}

impl<T: ArrowPrimitiveType<Native: PartialOrd>> Native<T> {
    pub(super) fn boxed(greatest: bool, data_type: &DataType) -> Box<dyn Accumulator> {
        let data_type = data_type.clone().null();
        Box::new(Self {
            values: Vec::new(),
            greatest,
            data_type,
        })
    }

    #[inline]
    fn add(
        &mut self,
        group: u32,
        value: T::Native,
        better: impl Fn(&T::Native, &T::Native) -> bool,
    ) {
        let best = &mut self.values[group as usize];
        if best.as_ref().is_none_or(|best| better(&value, best)) {
            *best = Some(value);
        }
    }

    fn add_all(
        &mut self,
        groups: &[u32],
        array: &PrimitiveArray<T>,
        weights: Option<&Int64Array>,
        better: impl Fn(&T::Native, &T::Native) -> bool + Copy,
    ) {
        let nulls = array.nulls().filter(|n| n.null_count() > 0);
        let values = array.values();
        if nulls.is_none() && weights.is_none() {
            for (group, value) in groups.iter().zip(values) {
                self.add(*group, *value, better);
            }
            return;
        }
        for i in rows_with_values(nulls, weights, values.len()) {
            self.add(groups[i], values[i], better);
        }
    }
}

impl<T: ArrowPrimitiveType<Native: PartialOrd>> Accumulator for Native<T> {
    fn resize(&mut self, groups: usize) {
        if groups > self.values.len() {
            self.values.resize(groups, None);
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        only_added(weights)?;
        let array = args[0].as_primitive::<T>();
        if self.greatest {
            self.add_all(groups, array, weights, |a, b| a > b);
        } else {
            self.add_all(groups, array, weights, |a, b| a < b);
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        let array: PrimitiveArray<T> = groups.iter().map(|g| self.values[*g as usize]).collect();
        Ok(Arc::new(array.with_data_type(self.data_type.to_arrow())))
    }

    fn clear(&mut self, groups: &[u32]) {
        groups.iter().for_each(|g| self.values[*g as usize] = None);
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone()]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.value(groups)?])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.accumulate(groups, state, None)
    }

    fn size_bytes(&self) -> usize {
        self.values.capacity() * size_of::<Option<T::Native>>()
    }
}

/// Returns the bytes of each row of a text or binary column.
fn bytes_of(array: &ArrayRef, row: usize) -> &[u8] {
    match array.as_string_opt::<i32>() {
        Some(texts) => texts.value(row).as_bytes(),
        None => array.as_binary::<i32>().value(row),
    }
}

/// Returns a text or binary column of byte strings that came from such a column.
fn bytes_column<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    if !data_type.is_string() {
        let mut builder = BinaryBuilder::new();
        values.for_each(|v| builder.append_option(v));
        return Ok(Arc::new(builder.finish()));
    }
    let mut builder = StringBuilder::new();
    for value in values {
        let text = value.map(std::str::from_utf8).transpose();
        builder
            .append_option(text.map_err(|_| FunctionError::runtime("state holds invalid text"))?);
    }
    Ok(Arc::new(builder.finish()))
}

/// One byte string per group.
pub(super) struct ByteString {
    values: Vec<Option<Box<[u8]>>>,
    greatest: bool,
    data_type: DataType,
    value_bytes: usize,
}

impl ByteString {
    pub(super) fn boxed(greatest: bool, data_type: &DataType) -> Box<dyn Accumulator> {
        let data_type = data_type.clone().null();
        Box::new(Self {
            values: Vec::new(),
            greatest,
            data_type,
            value_bytes: 0,
        })
    }
}

impl Accumulator for ByteString {
    fn resize(&mut self, groups: usize) {
        if groups > self.values.len() {
            self.values.resize(groups, None);
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        only_added(weights)?;
        let array = &args[0];
        for i in rows_with_values(array.nulls(), weights, array.len()) {
            let value = bytes_of(array, i);
            let slot = &mut self.values[groups[i] as usize];
            let better = match slot.as_deref() {
                None => true,
                Some(best) if self.greatest => value > best,
                Some(best) => value < best,
            };
            if better {
                self.value_bytes += value.len();
                self.value_bytes -= slot.as_ref().map_or(0, |old| old.len());
                *slot = Some(value.into());
            }
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        bytes_column(
            groups.iter().map(|g| self.values[*g as usize].as_deref()),
            &self.data_type,
        )
    }

    fn clear(&mut self, groups: &[u32]) {
        for group in groups {
            let old = self.values[*group as usize].take();
            self.value_bytes -= old.map_or(0, |old| old.len());
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.data_type.clone()]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.value(groups)?])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        self.accumulate(groups, state, None)
    }

    fn size_bytes(&self) -> usize {
        self.values.capacity() * size_of::<Option<Box<[u8]>>>() + self.value_bytes
    }
}

/// How values are kept in an ordered multiset.
pub(super) trait Keep: Ord + Clone + Send + 'static {
    /// Returns the keys of a column's rows; NULLs give any key.
    fn keys(array: &ArrayRef, logical: &LogicalType) -> Vec<Self>;
    /// Returns the column of keys.
    fn column<'a>(
        keys: impl Iterator<Item = Option<&'a Self>>,
        data_type: &DataType,
    ) -> Result<ArrayRef>;
    /// Memory beside the key itself.
    fn heap_bytes(&self) -> usize;
}

impl Keep for i128 {
    fn keys(array: &ArrayRef, logical: &LogicalType) -> Vec<Self> {
        to_keys(array, logical).unwrap_or_default()
    }

    fn column<'a>(
        keys: impl Iterator<Item = Option<&'a Self>>,
        data_type: &DataType,
    ) -> Result<ArrayRef> {
        from_keys(keys.map(|k| k.copied()), data_type)
            .ok_or_else(|| FunctionError::runtime(format!("{data_type} has no order keys")))
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Keep for Box<[u8]> {
    fn keys(array: &ArrayRef, _: &LogicalType) -> Vec<Self> {
        (0..array.len())
            .map(|i| bytes_of(array, i).into())
            .collect()
    }

    fn column<'a>(
        keys: impl Iterator<Item = Option<&'a Self>>,
        data_type: &DataType,
    ) -> Result<ArrayRef> {
        bytes_column(keys.map(|k| k.map(AsRef::as_ref)), data_type)
    }

    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

/// All values of each group, ordered, with how often they occur.
///
/// A count may be negative for a while: within an epoch a row may be taken back before it is added.
pub(super) struct Multiset<K> {
    groups: Vec<BTreeMap<K, i64>>,
    greatest: bool,
    data_type: DataType,
    entries: usize,
    heap_bytes: usize,
}

impl<K: Keep> Multiset<K> {
    pub(super) fn boxed(greatest: bool, data_type: &DataType) -> Box<dyn Accumulator> {
        Box::new(Self {
            groups: Vec::new(),
            greatest,
            data_type: data_type.clone().null(),
            entries: 0,
            heap_bytes: 0,
        })
    }

    fn add(&mut self, group: u32, key: K, weight: i64) {
        use std::collections::btree_map::Entry;
        match self.groups[group as usize].entry(key) {
            Entry::Vacant(entry) => {
                self.entries += 1;
                self.heap_bytes += entry.key().heap_bytes();
                entry.insert(weight);
            }
            Entry::Occupied(mut entry) => {
                *entry.get_mut() += weight;
                if *entry.get() == 0 {
                    self.entries -= 1;
                    self.heap_bytes -= entry.key().heap_bytes();
                    entry.remove();
                }
            }
        }
    }

    fn best(&self, group: u32) -> Option<&K> {
        let mut present = self.groups[group as usize]
            .iter()
            .filter(|(_, count)| **count > 0);
        let best = if self.greatest {
            present.next_back()
        } else {
            present.next()
        };
        best.map(|(key, _)| key)
    }
}

impl<K: Keep> Accumulator for Multiset<K> {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize(groups, BTreeMap::new());
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let nulls = args[0].nulls();
        let keys = K::keys(&args[0], &self.data_type.logical);
        for (i, key) in keys.into_iter().enumerate() {
            let weight = weights.map_or(1, |w| w.value(i));
            if weight != 0 && nulls.is_none_or(|n| n.is_valid(i)) {
                self.add(groups[i], key, weight);
            }
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        K::column(groups.iter().map(|g| self.best(*g)), &self.data_type)
    }

    fn clear(&mut self, groups: &[u32]) {
        for group in groups {
            let old = std::mem::take(&mut self.groups[*group as usize]);
            self.entries -= old.len();
            self.heap_bytes -= old.keys().map(Keep::heap_bytes).sum::<usize>();
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![
            DataTypes::array(self.data_type.clone()).not_null(),
            DataTypes::array(DataTypes::bigint()).not_null(),
        ]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let of = |group: &u32| self.groups[*group as usize].iter();
        let keys = K::column(
            groups.iter().flat_map(of).map(|(k, _)| Some(k)),
            &self.data_type,
        )?;
        let counts = Int64Array::from_iter_values(groups.iter().flat_map(of).map(|(_, n)| *n));
        let lengths = || groups.iter().map(|g| self.groups[*g as usize].len());
        let lists: [ArrayRef; 2] = [list(keys, lengths())?, list(Arc::new(counts), lengths())?];
        Ok(lists.to_vec())
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (i, group) in groups.iter().enumerate() {
            let values = state[0].as_list::<i32>().value(i);
            let counts = state[1].as_list::<i32>().value(i);
            let keys = K::keys(&values, &self.data_type.logical);
            for (key, count) in keys
                .into_iter()
                .zip(counts.as_primitive::<Int64Type>().values())
            {
                self.add(*group, key, *count);
            }
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        // A B-tree's nodes are about two thirds full.
        self.groups.capacity() * size_of::<BTreeMap<K, i64>>()
            + self.entries * size_of::<(K, i64)>() * 3 / 2
            + self.heap_bytes
    }
}

/// Returns a list column of a child column cut into pieces.
pub(super) fn list(child: ArrayRef, lengths: impl Iterator<Item = usize>) -> Result<ArrayRef> {
    let field = Arc::new(Field::new_list_field(child.data_type().clone(), true));
    if i32::try_from(child.len()).is_err() {
        return Err(FunctionError::runtime(
            "the state of the groups has more than 2^31 values",
        ));
    }
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, child, None)?))
}

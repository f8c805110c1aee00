//! Rows in growable columns, addressed by slot.
//!
//! Rows are put by batch and gathered by slot, column after column, so neither direction touches a row twice or
//! allocates per row. Slots of removed rows are given out again. Text, bytes and nested values (as `arrow-row` bytes)
//! lie in one arena per column, compacted when more than half of it is dead.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, NullArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

use super::fixed_width::{array_from_buffers, word_bytes};
use super::group_index::live;

/// No slot: [`RowStore::gather`] answers NULL in all columns.
pub const NO_SLOT: u32 = u32::MAX;

/// A set of rows addressed by slot. See the module's description.
pub struct RowStore {
    types: Vec<DataType>,
    columns: Vec<StoreColumn>,
    bound: usize,
    free: Vec<u32>,
}

impl RowStore {
    /// An empty store for rows of these Arrow types.
    ///
    /// # Errors
    /// When a nested type has no `arrow-row` form.
    pub fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let columns = types
            .iter()
            .map(StoreColumn::new)
            .collect::<Result<_, _>>()?;
        Ok(RowStore {
            types: types.to_vec(),
            columns,
            bound: 0,
            free: Vec::new(),
        })
    }

    /// The types of the columns.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// All slots are below this.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.bound - self.free.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slots in use, in rising order.
    pub fn slots(&self) -> Vec<u32> {
        live(self.bound, &self.free)
    }

    /// Takes a slot; its row is arbitrary until [`put`](Self::put).
    pub fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.bound += 1;
            u32::try_from(self.bound - 1)
                .ok()
                .filter(|slot| *slot != NO_SLOT)
                .expect("fewer than 2^32 rows per store")
        })
    }

    /// Makes all slots below `bound` usable, for stores whose slots are numbered by their owner.
    pub fn resize(&mut self, bound: usize) {
        self.bound = self.bound.max(bound);
    }

    /// Writes row `rows[i]` of `columns` to slot `slots[i]`, which is reserved or to be overwritten.
    ///
    /// # Errors
    /// When a column is not of the store's type.
    pub fn put(
        &mut self,
        columns: &[ArrayRef],
        rows: &[u32],
        slots: &[u32],
    ) -> Result<(), ArrowError> {
        let view = RowView::new(self, columns)?;
        self.put_viewed(&view, rows, slots);
        Ok(())
    }

    /// As [`put`](Self::put), for a view that was made before.
    pub(crate) fn put_viewed(&mut self, view: &RowView, rows: &[u32], slots: &[u32]) {
        for (column, view) in self.columns.iter_mut().zip(&view.columns) {
            column.put(view, rows, slots, self.bound);
        }
    }

    /// Frees slots. Each must be in use and is named once.
    pub fn remove(&mut self, slots: &[u32]) {
        self.clear(slots);
        self.free.extend_from_slice(slots);
    }

    /// Drops the content of slots, which stay with their owner.
    pub fn clear(&mut self, slots: &[u32]) {
        for column in &mut self.columns {
            column.remove(slots);
        }
    }

    /// The bytes of a text, bytes or nested column in a slot that was put; empty for NULL.
    pub(crate) fn bytes(&self, column: usize, slot: u32) -> &[u8] {
        match &self.columns[column].values {
            Values::Bytes(bytes) | Values::Encoded(_, bytes) => {
                bytes.get(slot as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// The rows of these slots as columns; [`NO_SLOT`] gives NULLs.
    ///
    /// # Errors
    /// When the text of one column exceeds 2 GiB.
    pub fn gather(&self, slots: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        (0..self.columns.len())
            .map(|column| self.gather_column(column, slots))
            .collect()
    }

    /// One column of the rows of these slots.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn gather_column(&self, column: usize, slots: &[u32]) -> Result<ArrayRef, ArrowError> {
        self.columns[column].gather(&self.types[column], slots)
    }

    /// Whether the row in `slot` equals row `row` of `view`; NULL equals NULL.
    pub(crate) fn equals(&self, slot: u32, view: &RowView, row: usize) -> bool {
        self.columns
            .iter()
            .zip(&view.columns)
            .all(|(column, view)| column.equals(slot as usize, view, row))
    }

    /// Bytes held.
    pub fn size_bytes(&self) -> usize {
        self.columns
            .iter()
            .map(StoreColumn::size_bytes)
            .sum::<usize>()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// A batch's columns, ready to be compared with and copied into a store.
pub(crate) struct RowView {
    columns: Vec<ColumnView>,
}

impl RowView {
    pub(crate) fn new(store: &RowStore, columns: &[ArrayRef]) -> Result<Self, ArrowError> {
        if columns.len() != store.types.len()
            || columns
                .iter()
                .zip(&store.types)
                .any(|(column, data_type)| column.data_type() != data_type)
        {
            let found: Vec<&DataType> = columns.iter().map(|column| column.data_type()).collect();
            return Err(ArrowError::SchemaError(format!(
                "columns of types {found:?} given to a store of {:?}",
                store.types
            )));
        }
        let columns = columns
            .iter()
            .zip(&store.columns)
            .map(|(array, column)| column.view(array));
        Ok(RowView {
            columns: columns.collect::<Result<_, _>>()?,
        })
    }
}

struct ColumnView {
    nulls: Option<NullBuffer>,
    values: ViewValues,
}

enum ViewValues {
    /// Values in buffer 0, whatever their width.
    Fixed(ArrayData),
    Bools(BooleanBuffer),
    Bytes(ArrayRef),
    Encoded(Rows),
    Nothing,
}

impl ColumnView {
    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

struct StoreColumn {
    /// One per slot; empty as long as no NULL came.
    nulls: Vec<bool>,
    values: Values,
}

enum Values {
    Bool(Vec<bool>),
    W1(Vec<i8>),
    W2(Vec<i16>),
    W4(Vec<i32>),
    W8(Vec<i64>),
    W16(Vec<i128>),
    Bytes(ByteColumn),
    Encoded(RowConverter, ByteColumn),
    Nothing,
}

/// Byte strings of any length.
#[derive(Default)]
struct ByteColumn {
    starts: Vec<u64>,
    lengths: Vec<u32>,
    arena: Vec<u8>,
    dead: usize,
}

macro_rules! for_fixed {
    ($values:expr, $fixed:ident => $body:expr, else $other:pat => $otherwise:expr) => {
        match $values {
            Values::W1($fixed) => $body,
            Values::W2($fixed) => $body,
            Values::W4($fixed) => $body,
            Values::W8($fixed) => $body,
            Values::W16($fixed) => $body,
            $other => $otherwise,
        }
    };
}

impl StoreColumn {
    fn new(data_type: &DataType) -> Result<Self, ArrowError> {
        let values = match (data_type, word_bytes(data_type)) {
            (DataType::Boolean, _) => Values::Bool(Vec::new()),
            (_, Some(1)) => Values::W1(Vec::new()),
            (_, Some(2)) => Values::W2(Vec::new()),
            (_, Some(4)) => Values::W4(Vec::new()),
            (_, Some(_)) => Values::W8(Vec::new()),
            (DataType::Decimal128(..), _) => Values::W16(Vec::new()),
            (DataType::Utf8 | DataType::Binary, _) => Values::Bytes(ByteColumn::default()),
            (DataType::Null, _) => Values::Nothing,
            _ => Values::Encoded(
                RowConverter::new(vec![SortField::new(data_type.clone())])?,
                ByteColumn::default(),
            ),
        };
        Ok(StoreColumn {
            nulls: Vec::new(),
            values,
        })
    }

    fn view(&self, array: &ArrayRef) -> Result<ColumnView, ArrowError> {
        let values = match &self.values {
            Values::Bool(_) => ViewValues::Bools(array.as_boolean().values().clone()),
            Values::Bytes(_) => ViewValues::Bytes(array.clone()),
            Values::Encoded(converter, _) => {
                ViewValues::Encoded(converter.convert_columns(std::slice::from_ref(array))?)
            }
            Values::Nothing => ViewValues::Nothing,
            _ => ViewValues::Fixed(array.to_data()),
        };
        Ok(ColumnView {
            nulls: array
                .nulls()
                .filter(|nulls| nulls.null_count() > 0)
                .cloned(),
            values,
        })
    }

    fn put(&mut self, view: &ColumnView, rows: &[u32], slots: &[u32], bound: usize) {
        if view.nulls.is_some() || !self.nulls.is_empty() {
            self.nulls.resize(bound, false);
            for (row, slot) in rows.iter().zip(slots) {
                self.nulls[*slot as usize] = view.is_null(*row as usize);
            }
        }
        match (&mut self.values, &view.values) {
            (Values::Bool(values), ViewValues::Bools(new)) => {
                values.resize(bound, false);
                rows.iter()
                    .zip(slots)
                    .for_each(|(row, slot)| values[*slot as usize] = new.value(*row as usize));
            }
            (Values::Bytes(values), ViewValues::Bytes(new)) => match new.as_string_opt::<i32>() {
                Some(text) => values.put(|row| text.value(row).as_bytes(), rows, slots, bound),
                None => {
                    let binary = new.as_binary::<i32>();
                    values.put(|row| binary.value(row), rows, slots, bound);
                }
            },
            (Values::Encoded(_, values), ViewValues::Encoded(new)) => {
                values.put(|row| new.row(row).data(), rows, slots, bound);
            }
            (values, ViewValues::Fixed(data)) => {
                for_fixed!(values, values => put_fixed(values, data, rows, slots, bound), else _ => ());
            }
            _ => (),
        }
    }

    fn remove(&mut self, slots: &[u32]) {
        if let Values::Bytes(bytes) | Values::Encoded(_, bytes) = &mut self.values {
            bytes.remove(slots);
        }
    }

    fn gather(&self, data_type: &DataType, slots: &[u32]) -> Result<ArrayRef, ArrowError> {
        let nulls = (!self.nulls.is_empty() || slots.contains(&NO_SLOT)).then(|| {
            let valid = |slot: &u32| {
                *slot != NO_SLOT && !self.nulls.get(*slot as usize).copied().unwrap_or(false)
            };
            NullBuffer::new(slots.iter().map(valid).collect::<BooleanBuffer>())
        });
        match &self.values {
            Values::Bool(values) => {
                let values: BooleanBuffer = slots
                    .iter()
                    .map(|slot| values.get(*slot as usize).copied().unwrap_or_default())
                    .collect();
                Ok(Arc::new(BooleanArray::new(values, nulls)))
            }
            Values::Bytes(values) => {
                let (offsets, bytes) = values.gather(slots)?;
                Ok(array_from_buffers(
                    data_type,
                    slots.len(),
                    vec![offsets, bytes],
                    nulls,
                ))
            }
            Values::Encoded(converter, values) => {
                let absent =
                    converter.convert_columns(&[arrow_array::new_null_array(data_type, 1)])?;
                let parser = converter.parser();
                let row = |slot: &u32| values.get(*slot as usize).unwrap_or(absent.row(0).data());
                let mut columns =
                    converter.convert_rows(slots.iter().map(|slot| parser.parse(row(slot))))?;
                Ok(columns.remove(0))
            }
            Values::Nothing => Ok(Arc::new(NullArray::new(slots.len()))),
            values => Ok(for_fixed!(values, values => {
                let gathered: Vec<_> =
                    slots.iter().map(|slot| values.get(*slot as usize).copied().unwrap_or_default()).collect();
                array_from_buffers(data_type, slots.len(), vec![Buffer::from_vec(gathered)], nulls)
            }, else _ => unreachable!("all other forms have an arm of their own"))),
        }
    }

    #[inline]
    fn equals(&self, slot: usize, view: &ColumnView, row: usize) -> bool {
        let null = self.nulls.get(slot).copied().unwrap_or(false);
        if null || view.is_null(row) {
            return null && view.is_null(row);
        }
        match (&self.values, &view.values) {
            (Values::Bool(values), ViewValues::Bools(new)) => values[slot] == new.value(row),
            (Values::Bytes(values), ViewValues::Bytes(new)) => {
                let new = match new.as_string_opt::<i32>() {
                    Some(text) => text.value(row).as_bytes(),
                    None => new.as_binary::<i32>().value(row),
                };
                values.get(slot) == Some(new)
            }
            (Values::Encoded(_, values), ViewValues::Encoded(new)) => {
                values.get(slot) == Some(new.row(row).data())
            }
            (Values::Nothing, ViewValues::Nothing) => true,
            (values, ViewValues::Fixed(data)) => {
                for_fixed!(values, values => equal_fixed(values, data, slot, row), else _ => false)
            }
            _ => false,
        }
    }

    fn size_bytes(&self) -> usize {
        fn bytes<T>(values: &Vec<T>) -> usize {
            values.capacity() * size_of::<T>()
        }
        let values = match &self.values {
            Values::Bool(values) => bytes(values),
            Values::Bytes(values) | Values::Encoded(_, values) => {
                bytes(&values.starts) + bytes(&values.lengths) + values.arena.capacity()
            }
            Values::Nothing => 0,
            values => for_fixed!(values, values => bytes(values), else _ => 0),
        };
        values + self.nulls.capacity()
    }
}

fn put_fixed<T: ArrowNativeType>(
    values: &mut Vec<T>,
    data: &ArrayData,
    rows: &[u32],
    slots: &[u32],
    bound: usize,
) {
    let new = data.buffer::<T>(0);
    values.resize(bound, T::default());
    rows.iter()
        .zip(slots)
        .for_each(|(row, slot)| values[*slot as usize] = new[*row as usize]);
}

fn equal_fixed<T: ArrowNativeType>(
    values: &[T],
    data: &ArrayData,
    slot: usize,
    row: usize,
) -> bool {
    values[slot] == data.buffer::<T>(0)[row]
}

impl ByteColumn {
    fn get(&self, slot: usize) -> Option<&[u8]> {
        let start = *self.starts.get(slot)? as usize;
        Some(&self.arena[start..start + self.lengths[slot] as usize])
    }

    fn put<'a>(
        &mut self,
        new: impl Fn(usize) -> &'a [u8],
        rows: &[u32],
        slots: &[u32],
        bound: usize,
    ) {
        self.starts.resize(bound, 0);
        self.lengths.resize(bound, 0);
        for (row, slot) in rows.iter().zip(slots) {
            let bytes = new(*row as usize);
            let slot = *slot as usize;
            self.dead += self.lengths[slot] as usize;
            self.starts[slot] = self.arena.len() as u64;
            self.lengths[slot] =
                u32::try_from(bytes.len()).expect("Arrow's values are below 4 GiB");
            self.arena.extend_from_slice(bytes);
        }
        self.compact();
    }

    fn remove(&mut self, slots: &[u32]) {
        for slot in slots {
            if let Some(length) = self.lengths.get_mut(*slot as usize) {
                self.dead += std::mem::take(length) as usize;
            }
        }
        self.compact();
    }

    fn compact(&mut self) {
        if self.dead <= self.arena.len() / 2 || self.dead <= 4096 {
            return;
        }
        let mut arena = Vec::with_capacity(self.arena.len() - self.dead);
        for (start, length) in self.starts.iter_mut().zip(&self.lengths) {
            let from = *start as usize;
            *start = arena.len() as u64;
            arena.extend_from_slice(&self.arena[from..from + *length as usize]);
        }
        self.arena = arena;
        self.dead = 0;
    }

    fn gather(&self, slots: &[u32]) -> Result<(Buffer, Buffer), ArrowError> {
        let mut offsets: Vec<i32> = Vec::with_capacity(slots.len() + 1);
        let total: usize = slots
            .iter()
            .filter_map(|slot| self.lengths.get(*slot as usize))
            .map(|l| *l as usize)
            .sum();
        i32::try_from(total).map_err(|_| ArrowError::OffsetOverflowError(total))?;
        let mut bytes = Vec::with_capacity(total);
        offsets.push(0);
        for slot in slots {
            bytes.extend_from_slice(self.get(*slot as usize).unwrap_or_default());
            offsets.push(bytes.len() as i32);
        }
        Ok((Buffer::from_vec(offsets), Buffer::from_vec(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow_array::{
        BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int8Array, Int16Array,
        Int32Array, Int64Array, ListArray, StringArray, types::Int32Type,
    };
    use proptest::prelude::*;

    use super::*;

    fn columns(values: &[Option<i8>]) -> Vec<ArrayRef> {
        let values = || values.iter().copied();
        let text = |v: i8| format!("{v}").repeat(40 + v.unsigned_abs() as usize);
        vec![
            Arc::new(
                values()
                    .map(|v| v.map(|v| v % 2 == 0))
                    .collect::<BooleanArray>(),
            ),
            Arc::new(values().collect::<Int8Array>()),
            Arc::new(values().map(|v| v.map(i16::from)).collect::<Int16Array>()),
            Arc::new(values().map(|v| v.map(i32::from)).collect::<Int32Array>()),
            Arc::new(values().map(|v| v.map(i64::from)).collect::<Int64Array>()),
            Arc::new(values().map(|v| v.map(f64::from)).collect::<Float64Array>()),
            Arc::new(
                values()
                    .map(|v| v.map(i128::from))
                    .collect::<Decimal128Array>(),
            ),
            Arc::new(values().map(|v| v.map(text)).collect::<StringArray>()),
            Arc::new(
                values()
                    .map(|v| v.map(|v| text(v).into_bytes()))
                    .collect::<BinaryArray>(),
            ),
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
                values().map(|v| v.map(|v| vec![Some(i32::from(v)), None])),
            )),
            Arc::new(NullArray::new(values().count())),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn rows_come_back_as_they_were_put(
            steps in proptest::collection::vec(
                (proptest::collection::vec(proptest::option::weighted(0.8, any::<i8>()), 0..60), any::<u64>()),
                1..12,
            ),
        ) {
            let types: Vec<DataType> = columns(&[]).iter().map(|c| c.data_type().clone()).collect();
            let mut store = RowStore::new(&types).unwrap();
            let mut model: BTreeMap<u32, Option<i8>> = BTreeMap::new();
            for (values, choice) in steps {
                let batch: Vec<ArrayRef> =
                    columns(&[&[Some(1)], &values[..]].concat()).iter().map(|c| c.slice(1, values.len())).collect();
                let rows: Vec<u32> = (0..values.len() as u32).filter(|row| choice >> (row % 64) & 1 == 0).collect();
                let slots: Vec<u32> = rows.iter().map(|_| store.reserve()).collect();
                store.put(&batch, &rows, &slots).unwrap();
                let view = RowView::new(&store, &batch).unwrap();
                for (row, slot) in rows.iter().zip(&slots) {
                    prop_assert!(store.equals(*slot, &view, *row as usize));
                    prop_assert_eq!(model.insert(*slot, values[*row as usize]), None);
                }
                for (slot, value) in &model {
                    for (row, other) in values.iter().enumerate() {
                        prop_assert_eq!(store.equals(*slot, &view, row), value == other);
                    }
                }
                let mut all: Vec<u32> = model.keys().copied().collect();
                let mut expected: Vec<Option<i8>> = model.values().copied().collect();
                all.push(NO_SLOT);
                expected.push(None);
                prop_assert_eq!(store.gather(&all).unwrap(), columns(&expected));
                prop_assert_eq!(store.len(), model.len());
                let gone: Vec<u32> = model.keys().copied().filter(|slot| choice >> (slot % 61) & 1 == 1).collect();
                store.remove(&gone);
                model.retain(|slot, _| !gone.contains(slot));
            }
        }
    }
}

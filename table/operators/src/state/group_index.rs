//! Key columns to dense group numbers.
//!
//! Operators keep their state in columns indexed by group number, so the hash table is asked once per row and batch
//! and everything else is array arithmetic. Numbers of removed groups are given out again.
//!
//! Three forms, chosen by the key's types: up to three columns of at most 64 bits each are kept as words; one text
//! or bytes column is kept as its bytes; all else as `arrow-row` bytes. Bytes lie in one arena that is compacted when
//! more than half of it belongs to removed groups. NULL is a key value of its own and equals NULL.

use std::sync::Arc;

use aquifer_runtime::exchange::FixedState;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::fixed_width::{array_from_words, for_each_word, word_bytes};
use super::hash::{TABLE_SEED, hash_bytes, mix};

/// What [`GroupIndex::find`] answers for a key that has no group.
pub const NO_GROUP: u32 = u32::MAX;

/// Maps keys to dense group numbers. See the module's description.
pub struct GroupIndex {
    types: Vec<DataType>,
    form: Form,
    free: Vec<u32>,
}

enum Form {
    /// No key columns: one group, 0; true once it was asked for.
    Unit(bool),
    One(WordTable<1>),
    Two(WordTable<2>),
    Three(WordTable<3>),
    Bytes(BytesTable, BytesForm),
}

enum BytesForm {
    Text,
    Binary,
    Encoded(RowConverter),
}

impl GroupIndex {
    /// An empty index for keys of these Arrow types.
    ///
    /// # Errors
    /// When a type has no `arrow-row` form.
    pub fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let words = types
            .iter()
            .all(|data_type| word_bytes(data_type).is_some());
        let form = match (words, types) {
            (_, []) => Form::Unit(false),
            (true, [_]) => Form::One(WordTable::default()),
            (true, [_, _]) => Form::Two(WordTable::default()),
            (true, [_, _, _]) => Form::Three(WordTable::default()),
            (_, [DataType::Utf8]) => Form::Bytes(BytesTable::default(), BytesForm::Text),
            (_, [DataType::Binary]) => Form::Bytes(BytesTable::default(), BytesForm::Binary),
            _ => {
                let fields = types.iter().cloned().map(SortField::new).collect();
                Form::Bytes(
                    BytesTable::default(),
                    BytesForm::Encoded(RowConverter::new(fields)?),
                )
            }
        };
        Ok(GroupIndex {
            types: types.to_vec(),
            form,
            free: Vec::new(),
        })
    }

    /// Writes the group of each row to `out` (cleared before); unknown keys get a new group.
    ///
    /// # Errors
    /// When the columns are not of the index's types.
    pub fn assign(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        check_types(&self.types, columns)?;
        out.clear();
        out.reserve(rows);
        let free = &mut self.free;
        match &mut self.form {
            Form::Unit(used) => {
                *used |= rows > 0;
                out.resize(rows, 0);
            }
            Form::One(table) => table.assign(columns, rows, free, out),
            Form::Two(table) => table.assign(columns, rows, free, out),
            Form::Three(table) => table.assign(columns, rows, free, out),
            Form::Bytes(table, form) => match KeyBytes::new(form, columns)? {
                KeyBytes::Text(text) => {
                    table.assign(
                        rows,
                        |row| text.is_valid(row).then(|| text.value(row).as_bytes()),
                        free,
                        out,
                    );
                }
                KeyBytes::Binary(bytes) => {
                    table.assign(
                        rows,
                        |row| bytes.is_valid(row).then(|| bytes.value(row)),
                        free,
                        out,
                    );
                }
                KeyBytes::Encoded(encoded) => {
                    table.assign(rows, |row| Some(encoded.row(row).data()), free, out);
                }
            },
        }
        Ok(())
    }

    /// Writes the group of each row to `out` (cleared before); [`NO_GROUP`] for unknown keys.
    ///
    /// # Errors
    /// When the columns are not of the index's types.
    pub fn find(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        check_types(&self.types, columns)?;
        out.clear();
        out.reserve(rows);
        match &mut self.form {
            Form::Unit(used) => out.resize(rows, if *used { 0 } else { NO_GROUP }),
            Form::One(table) => table.find(columns, rows, out),
            Form::Two(table) => table.find(columns, rows, out),
            Form::Three(table) => table.find(columns, rows, out),
            Form::Bytes(table, form) => match KeyBytes::new(form, columns)? {
                KeyBytes::Text(text) => {
                    table.find(
                        rows,
                        |row| text.is_valid(row).then(|| text.value(row).as_bytes()),
                        out,
                    );
                }
                KeyBytes::Binary(bytes) => {
                    table.find(
                        rows,
                        |row| bytes.is_valid(row).then(|| bytes.value(row)),
                        out,
                    );
                }
                KeyBytes::Encoded(encoded) => {
                    table.find(rows, |row| Some(encoded.row(row).data()), out);
                }
            },
        }
        Ok(())
    }

    /// Forgets groups; their numbers are given out again. Each must be a live group, named once.
    pub fn remove(&mut self, groups: &[u32]) {
        match &mut self.form {
            Form::Unit(used) => {
                *used &= groups.is_empty();
                return;
            }
            Form::One(table) => table.remove(groups),
            Form::Two(table) => table.remove(groups),
            Form::Three(table) => table.remove(groups),
            Form::Bytes(table, _) => table.remove(groups),
        }
        self.free.extend_from_slice(groups);
    }

    /// The key columns of live groups.
    ///
    /// # Errors
    /// When stored bytes cannot be read back, which would be a fault of this index.
    pub fn keys(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        match &self.form {
            Form::Unit(_) => Ok(Vec::new()),
            Form::One(table) => Ok(table.keys(&self.types, groups)),
            Form::Two(table) => Ok(table.keys(&self.types, groups)),
            Form::Three(table) => Ok(table.keys(&self.types, groups)),
            Form::Bytes(table, form) => {
                let keys = groups.iter().map(|group| table.key(*group));
                match form {
                    BytesForm::Text => {
                        let text = keys.map(|key| key.map(std::str::from_utf8).transpose());
                        let text = text.collect::<Result<StringArray, _>>();
                        Ok(vec![Arc::new(text.map_err(|error| {
                            ArrowError::ExternalError(Box::new(error))
                        })?)])
                    }
                    BytesForm::Binary => Ok(vec![Arc::new(keys.collect::<BinaryArray>())]),
                    BytesForm::Encoded(converter) => {
                        let parser = converter.parser();
                        converter
                            .convert_rows(keys.map(|key| parser.parse(key.unwrap_or_default())))
                    }
                }
            }
        }
    }

    /// The live groups in rising order.
    pub fn groups(&self) -> Vec<u32> {
        live(self.bound(), &self.free)
    }

    /// The number of live groups.
    pub fn len(&self) -> usize {
        self.bound() - self.free.len()
    }

    /// True without live groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All group numbers are below this: the length that columns indexed by group need.
    pub fn bound(&self) -> usize {
        match &self.form {
            Form::Unit(used) => usize::from(*used),
            Form::One(table) => table.keys.len(),
            Form::Two(table) => table.keys.len(),
            Form::Three(table) => table.keys.len(),
            Form::Bytes(table, _) => table.spans.len(),
        }
    }

    /// The types of the key columns.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Bytes held.
    pub fn size_bytes(&self) -> usize {
        let form = match &self.form {
            Form::Unit(_) => 0,
            Form::One(table) => table.size_bytes(),
            Form::Two(table) => table.size_bytes(),
            Form::Three(table) => table.size_bytes(),
            Form::Bytes(table, _) => table.size_bytes(),
        };
        form + self.free.capacity() * size_of::<u32>()
    }
}

fn check_types(types: &[DataType], columns: &[ArrayRef]) -> Result<(), ArrowError> {
    if columns.len() == types.len()
        && columns
            .iter()
            .zip(types)
            .all(|(column, t)| column.data_type() == t)
    {
        return Ok(());
    }
    let found: Vec<&DataType> = columns.iter().map(|column| column.data_type()).collect();
    Err(ArrowError::SchemaError(format!(
        "key columns of types {found:?} given to an index of {types:?}"
    )))
}

/// The numbers below `bound` that are not free, in rising order.
pub(super) fn live(bound: usize, free: &[u32]) -> Vec<u32> {
    let all = 0..bound as u32;
    if free.is_empty() {
        return all.collect();
    }
    let mut is_free = vec![false; bound];
    free.iter()
        .for_each(|number| is_free[*number as usize] = true);
    all.filter(|number| !is_free[*number as usize]).collect()
}

fn next_group(free: &mut Vec<u32>, bound: usize) -> u32 {
    free.pop().unwrap_or_else(|| {
        u32::try_from(bound).expect("an operator instance holds fewer than 2^32 groups")
    })
}

/// Keys of `W` words.
struct WordTable<const W: usize> {
    table: HashTable<WordEntry<W>>,
    /// By group, for the way back.
    keys: Vec<[u64; W]>,
    /// By group, one bit per NULL column; empty until a key with a NULL comes.
    nulls: Vec<u8>,
    scratch: Vec<[u64; W]>,
    scratch_nulls: Vec<u8>,
}

/// The key lies in the table itself, so that a look-up touches nothing else.
struct WordEntry<const W: usize> {
    key: [u64; W],
    nulls: u8,
    group: u32,
}

impl<const W: usize> WordEntry<W> {
    #[inline]
    fn hash(&self) -> u64 {
        hash_words(&self.key, self.nulls)
    }
}

impl<const W: usize> Default for WordTable<W> {
    fn default() -> Self {
        WordTable {
            table: HashTable::new(),
            keys: Vec::new(),
            nulls: Vec::new(),
            scratch: Vec::new(),
            scratch_nulls: Vec::new(),
        }
    }
}

#[inline]
fn hash_words<const W: usize>(key: &[u64; W], nulls: u8) -> u64 {
    let mut hash = TABLE_SEED ^ u64::from(nulls);
    for word in key {
        hash = mix(hash, *word);
    }
    hash
}

impl<const W: usize> WordTable<W> {
    fn read(&mut self, columns: &[ArrayRef], rows: usize) {
        self.scratch.clear();
        self.scratch.resize(rows, [0; W]);
        self.scratch_nulls.clear();
        self.scratch_nulls.resize(rows, 0);
        for (at, column) in columns.iter().enumerate() {
            for_each_word(column.as_ref(), |row, word| self.scratch[row][at] = word);
            if column.null_count() > 0 {
                self.nulls.resize(self.keys.len(), 0);
                for row in (0..rows).filter(|row| column.is_null(*row)) {
                    self.scratch[row][at] = 0;
                    self.scratch_nulls[row] |= 1 << at;
                }
            }
        }
    }

    fn assign(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        free: &mut Vec<u32>,
        out: &mut Vec<u32>,
    ) {
        self.read(columns, rows);
        let WordTable {
            table,
            keys,
            nulls,
            scratch,
            scratch_nulls,
        } = self;
        for (key, null) in scratch.iter().zip(scratch_nulls.iter()) {
            let entry = table.entry(
                hash_words(key, *null),
                |entry| entry.key == *key && entry.nulls == *null,
                WordEntry::hash,
            );
            out.push(match entry {
                Entry::Occupied(entry) => entry.get().group,
                Entry::Vacant(entry) => {
                    let group = next_group(free, keys.len());
                    let at = group as usize;
                    if at == keys.len() {
                        keys.push(*key);
                    } else {
                        keys[at] = *key;
                    }
                    if *null != 0 || !nulls.is_empty() {
                        nulls.resize(keys.len(), 0);
                        nulls[at] = *null;
                    }
                    entry.insert(WordEntry {
                        key: *key,
                        nulls: *null,
                        group,
                    });
                    group
                }
            });
        }
    }

    fn find(&mut self, columns: &[ArrayRef], rows: usize, out: &mut Vec<u32>) {
        self.read(columns, rows);
        let keys = self.scratch.iter().zip(&self.scratch_nulls);
        out.extend(keys.map(|(key, null)| {
            let same = |entry: &WordEntry<W>| entry.key == *key && entry.nulls == *null;
            let found = self.table.find(hash_words(key, *null), same);
            found.map_or(NO_GROUP, |entry| entry.group)
        }));
    }

    fn remove(&mut self, groups: &[u32]) {
        for group in groups {
            let at = *group as usize;
            let hash = hash_words(&self.keys[at], self.nulls.get(at).copied().unwrap_or(0));
            if let Ok(entry) = self.table.find_entry(hash, |entry| entry.group == *group) {
                entry.remove();
            }
        }
    }

    fn keys(&self, types: &[DataType], groups: &[u32]) -> Vec<ArrayRef> {
        let has_nulls = !self.nulls.is_empty();
        let column = |(at, data_type): (usize, &DataType)| {
            let valid = |group: &u32| {
                let nulls = self.nulls.get(*group as usize).copied().unwrap_or(0);
                nulls & (1 << at) == 0
            };
            let nulls = has_nulls.then(|| groups.iter().map(valid).collect::<Vec<_>>().into());
            let words = groups.iter().map(|group| self.keys[*group as usize][at]);
            array_from_words(data_type, words, nulls)
        };
        types.iter().enumerate().map(column).collect()
    }

    fn size_bytes(&self) -> usize {
        self.table.allocation_size()
            + self.keys.capacity() * size_of::<[u64; W]>()
            + self.nulls.capacity()
    }
}

/// The bytes of a batch's keys.
enum KeyBytes<'a> {
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    Encoded(Rows),
}

impl<'a> KeyBytes<'a> {
    fn new(form: &BytesForm, columns: &'a [ArrayRef]) -> Result<Self, ArrowError> {
        Ok(match form {
            BytesForm::Text => KeyBytes::Text(columns[0].as_string()),
            BytesForm::Binary => KeyBytes::Binary(columns[0].as_binary()),
            BytesForm::Encoded(converter) => KeyBytes::Encoded(converter.convert_columns(columns)?),
        })
    }
}

/// Where a key's bytes lie, and their hash, so that neither growth nor most mismatches touch the arena.
#[derive(Clone, Copy)]
struct Span {
    hash: u64,
    start: u64,
    length: u32,
}

/// Keys as bytes; a NULL key (only of the single-column forms) has its group outside the table.
struct BytesTable {
    table: HashTable<u32>,
    spans: Vec<Span>,
    arena: Vec<u8>,
    /// Bytes in the arena of removed groups.
    dead: usize,
    null_group: Option<u32>,
    state: FixedState,
}

impl Default for BytesTable {
    fn default() -> Self {
        BytesTable {
            table: HashTable::new(),
            spans: Vec::new(),
            arena: Vec::new(),
            dead: 0,
            null_group: None,
            state: FixedState::with_seed(TABLE_SEED),
        }
    }
}

#[inline]
fn span_bytes(arena: &[u8], span: Span) -> &[u8] {
    &arena[span.start as usize..][..span.length as usize]
}

impl BytesTable {
    fn assign<'a>(
        &mut self,
        rows: usize,
        key: impl Fn(usize) -> Option<&'a [u8]>,
        free: &mut Vec<u32>,
        out: &mut Vec<u32>,
    ) {
        let BytesTable {
            table,
            spans,
            arena,
            null_group,
            state,
            ..
        } = self;
        for row in 0..rows {
            let Some(bytes) = key(row) else {
                let group = *null_group.get_or_insert_with(|| {
                    let group = next_group(free, spans.len());
                    put_span(
                        spans,
                        group,
                        Span {
                            hash: 0,
                            start: 0,
                            length: 0,
                        },
                    );
                    group
                });
                out.push(group);
                continue;
            };
            let hash = hash_bytes(state, bytes);
            let entry = table.entry(
                hash,
                |group| {
                    let span = spans[*group as usize];
                    span.hash == hash && span_bytes(arena, span) == bytes
                },
                |group| spans[*group as usize].hash,
            );
            out.push(match entry {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let group = next_group(free, spans.len());
                    let length =
                        u32::try_from(bytes.len()).expect("Arrow's text and rows are below 4 GiB");
                    put_span(
                        spans,
                        group,
                        Span {
                            hash,
                            start: arena.len() as u64,
                            length,
                        },
                    );
                    arena.extend_from_slice(bytes);
                    entry.insert(group);
                    group
                }
            });
        }
    }

    fn find<'a>(&self, rows: usize, key: impl Fn(usize) -> Option<&'a [u8]>, out: &mut Vec<u32>) {
        out.extend((0..rows).map(|row| {
            let Some(bytes) = key(row) else {
                return self.null_group.unwrap_or(NO_GROUP);
            };
            let hash = hash_bytes(&self.state, bytes);
            let same = |group: &u32| {
                let span = self.spans[*group as usize];
                span.hash == hash && span_bytes(&self.arena, span) == bytes
            };
            self.table.find(hash, same).copied().unwrap_or(NO_GROUP)
        }));
    }

    fn remove(&mut self, groups: &[u32]) {
        for group in groups {
            if self.null_group == Some(*group) {
                self.null_group = None;
                continue;
            }
            let span = self.spans[*group as usize];
            if let Ok(entry) = self.table.find_entry(span.hash, |g| g == group) {
                entry.remove();
                self.dead += span.length as usize;
            }
        }
        if self.dead > self.arena.len() / 2 && self.dead > 4096 {
            let mut arena = Vec::with_capacity(self.arena.len() - self.dead);
            for group in &self.table {
                let span = &mut self.spans[*group as usize];
                let start = arena.len() as u64;
                arena.extend_from_slice(span_bytes(&self.arena, *span));
                span.start = start;
            }
            self.arena = arena;
            self.dead = 0;
        }
    }

    fn key(&self, group: u32) -> Option<&[u8]> {
        (self.null_group != Some(group))
            .then(|| span_bytes(&self.arena, self.spans[group as usize]))
    }

    fn size_bytes(&self) -> usize {
        self.table.allocation_size()
            + self.spans.capacity() * size_of::<Span>()
            + self.arena.capacity()
    }
}

fn put_span(spans: &mut Vec<Span>, group: u32, span: Span) {
    if group as usize == spans.len() {
        spans.push(span);
    } else {
        spans[group as usize] = span;
    }
}

#[cfg(test)]
mod tests;

//! Keys of a fixed number of words.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{NO_GROUP, next_group};
use crate::state::fixed_width::{array_from_words, for_each_word};
use crate::state::hash::{TABLE_SEED, mix};

/// Keys of `W` words.
pub(super) struct WordTable<const W: usize> {
    pub(super) table: HashTable<WordEntry<W>>,
    /// By group, for the way back.
    pub(super) keys: Vec<[u64; W]>,
    /// By group, one bit per NULL column; empty until a key with a NULL comes.
    nulls: Vec<u8>,
    scratch: Vec<[u64; W]>,
    scratch_nulls: Vec<u8>,
}

/// The key lies in the table itself, so that a look-up touches nothing else.
pub(super) struct WordEntry<const W: usize> {
    key: [u64; W],
    nulls: u8,
    pub(super) group: u32,
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

    pub(super) fn assign(
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

    pub(super) fn find(&mut self, columns: &[ArrayRef], rows: usize, out: &mut Vec<u32>) {
        self.read(columns, rows);
        let keys = self.scratch.iter().zip(&self.scratch_nulls);
        out.extend(keys.map(|(key, null)| {
            let same = |entry: &WordEntry<W>| entry.key == *key && entry.nulls == *null;
            let found = self.table.find(hash_words(key, *null), same);
            found.map_or(NO_GROUP, |entry| entry.group)
        }));
    }

    pub(super) fn remove(&mut self, groups: &[u32]) {
        for group in groups {
            let at = *group as usize;
            let hash = hash_words(&self.keys[at], self.nulls.get(at).copied().unwrap_or(0));
            if let Ok(entry) = self.table.find_entry(hash, |entry| entry.group == *group) {
                entry.remove();
            }
        }
    }

    pub(super) fn keys(&self, types: &[DataType], groups: &[u32]) -> Vec<ArrayRef> {
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

    pub(super) fn size_bytes(&self) -> usize {
        self.table.allocation_size()
            + self.keys.capacity() * size_of::<[u64; W]>()
            + self.nulls.capacity()
    }
}

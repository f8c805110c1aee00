//! A hash map whose entries have stable, dense positions.
//!
//! Entries stand in a vector; the hash table holds only their positions, four bytes each, so it stays small and
//! growing it never moves an entry or hashes a key again. Iteration goes by position: it is deterministic for a
//! given order of insertions and removals, which plain hash tables are not across a restore.

use std::hash::Hash;

use hashbrown::HashTable;

use crate::batch::StreamData;

/// What can be a key: stream data that can be hashed and compared.
pub trait StateKey: StreamData + Hash + Eq {}
impl<K: StreamData + Hash + Eq> StateKey for K {}

/// Keys with a value each, at stable positions. See the module's description.
#[derive(Clone, Debug)]
pub struct KeyMap<K, V> {
    table: HashTable<u32>,
    slots: Vec<Slot<K, V>>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot<K, V> {
    hash: u64,
    entry: Option<(K, V)>,
}

/// The table uses the low bits and the highest seven; routing has used up the highest, so turn them away.
#[inline]
fn table_hash(hash: u64) -> u64 {
    hash.rotate_left(32)
}

impl<K, V> Default for KeyMap<K, V> {
    fn default() -> Self {
        KeyMap {
            table: HashTable::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<K: Eq, V> KeyMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        KeyMap::default()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True without keys.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The position of `key`, whose [`key_hash`](crate::exchange::key_hash) is `hash`.
    #[inline]
    pub fn find(&self, hash: u64, key: &K) -> Option<u32> {
        let slots = &self.slots;
        self.table
            .find(
                table_hash(hash),
                |&slot| matches!(&slots[slot as usize].entry, Some((other, _)) if other == key),
            )
            .copied()
    }

    /// The position of `key`; a new one, filled with `value()`, when it is not there.
    #[inline]
    pub fn find_or_insert(&mut self, hash: u64, key: K, value: impl FnOnce() -> V) -> u32 {
        if let Some(slot) = self.find(hash, &key) {
            return slot;
        }
        let entry = Slot {
            hash,
            entry: Some((key, value())),
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                let slot =
                    u32::try_from(self.slots.len()).expect("an instance holds less than 2^32 keys");
                self.slots.push(entry);
                slot
            }
        };
        let slots = &self.slots;
        self.table.insert_unique(table_hash(hash), slot, |&slot| {
            table_hash(slots[slot as usize].hash)
        });
        slot
    }

    /// Removes the entry at `slot`; the position may be used again by another key.
    pub fn remove(&mut self, slot: u32) -> Option<(K, V)> {
        let at = self.slots.get_mut(slot as usize)?;
        let entry = at.entry.take()?;
        if let Ok(found) = self
            .table
            .find_entry(table_hash(at.hash), |&other| other == slot)
        {
            found.remove();
        }
        self.free.push(slot);
        Some(entry)
    }

    /// The key at `slot`, if there is one.
    #[inline]
    pub fn key(&self, slot: u32) -> Option<&K> {
        self.slots
            .get(slot as usize)?
            .entry
            .as_ref()
            .map(|(key, _)| key)
    }

    /// The value at `slot`, if there is one.
    #[inline]
    pub fn value(&self, slot: u32) -> Option<&V> {
        self.slots
            .get(slot as usize)?
            .entry
            .as_ref()
            .map(|(_, value)| value)
    }

    /// The value at `slot`, if there is one.
    #[inline]
    pub fn value_mut(&mut self, slot: u32) -> Option<&mut V> {
        self.slots
            .get_mut(slot as usize)?
            .entry
            .as_mut()
            .map(|(_, value)| value)
    }

    /// The routing hash of the key at `slot`.
    pub fn hash(&self, slot: u32) -> Option<u64> {
        self.slots
            .get(slot as usize)
            .filter(|at| at.entry.is_some())
            .map(|at| at.hash)
    }

    /// One more than the highest position in use so far.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Entries by position: `(slot, hash, key, value)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &K, &V)> {
        self.slots.iter().enumerate().filter_map(|(slot, at)| {
            at.entry
                .as_ref()
                .map(|(key, value)| (slot as u32, at.hash, key, value))
        })
    }

    /// Entries by position, as owned: `(hash, key, value)`.
    pub fn into_entries(self) -> impl Iterator<Item = (u64, K, V)> {
        self.slots.into_iter().filter_map(|at| {
            let hash = at.hash;
            at.entry.map(|(key, value)| (hash, key, value))
        })
    }

    /// Bytes held, without what keys and values point to.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K, V>>()
            + self.table.capacity() * 5
            + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::exchange::key_hash;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_map_and_positions_stay(
            steps in proptest::collection::vec((0u16..40, any::<bool>()), 0..300)
        ) {
            let mut map = KeyMap::new();
            let mut model: BTreeMap<u16, u32> = BTreeMap::new();
            for (step, (key, insert)) in steps.into_iter().enumerate() {
                let hash = key_hash(&key);
                if insert {
                    let slot = map.find_or_insert(hash, key, || step);
                    prop_assert_eq!(*model.entry(key).or_insert(slot), slot);
                } else if let Some(slot) = map.find(hash, &key) {
                    prop_assert_eq!(model.remove(&key), Some(slot));
                    prop_assert_eq!(map.remove(slot).map(|(key, _)| key), Some(key));
                    prop_assert!(map.remove(slot).is_none());
                } else {
                    prop_assert!(!model.contains_key(&key));
                }
                prop_assert_eq!(map.len(), model.len());
            }
            let mut keys: Vec<_> = map.iter().map(|(slot, _, key, _)| (*key, slot)).collect();
            keys.sort_unstable();
            prop_assert_eq!(keys, model.into_iter().collect::<Vec<_>>());
            prop_assert!(map.slot_count() <= 40);
        }
    }
}

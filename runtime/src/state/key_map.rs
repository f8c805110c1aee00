//! A hash map whose entries have stable, dense positions.
//!
//! Entries stand in a vector; the hash table holds only their positions, so it stays small and growing it never moves
//! an entry or hashes a key again. Iteration goes by position: it is deterministic for a
//! given order of insertions and removals, which plain hash tables are not across a restore.

use std::hash::Hash;

use crate::batch::StreamData;
use crate::exchange::key_hash;

use super::slot_index::{NOWHERE, SlotIndex};

/// What can be a key: stream data that can be hashed and compared.
pub trait StateKey: StreamData + Hash + Eq {}
impl<K: StreamData + Hash + Eq> StateKey for K {}

/// Keys with a value each, at stable positions. See the module's description.
#[derive(Clone, Debug)]
pub struct KeyMap<K, V> {
    index: SlotIndex,
    slots: Vec<Option<(K, V)>>,
    free: Vec<u32>,
}

/// A key's hash, and where [`KeyMap::locate`] supposes it.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    hash: u64,
    slot: u32,
}

impl Located {
    /// Where the key is, if it is there.
    #[inline]
    pub(crate) fn slot(self) -> Option<usize> {
        (self.slot != NOWHERE).then_some(self.slot as usize)
    }
}

impl<K, V> Default for KeyMap<K, V> {
    fn default() -> Self {
        KeyMap {
            index: SlotIndex::default(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<K: Hash + Eq, V> KeyMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        KeyMap::default()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True without keys.
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The position of `key`, whose [`key_hash`](crate::exchange::key_hash) is `hash`.
    #[inline]
    pub fn find(&self, hash: u64, key: &K) -> Option<u32> {
        let slots = &self.slots;
        self.index.find(
            hash,
            |slot| matches!(&slots[slot as usize], Some((other, _)) if other == key),
        )
    }

    /// The position of `key`; a new one, filled with `value()`, when it is not there.
    #[inline]
    pub fn find_or_insert(&mut self, hash: u64, key: K, value: impl FnOnce() -> V) -> u32 {
        if let Some(slot) = self.find(hash, &key) {
            return slot;
        }
        let entry = Some((key, value()));
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
        self.index.insert(hash, slot);
        slot
    }

    /// Looks up many keys. Waiting for memory is most of the cost when there are many keys, and a processor waits for
    /// several places at once if a loop does little else: so one loop goes through the index, another through the
    /// entries, and what they have touched is in the cache when the entries are used.
    pub fn locate(&self, keys: &[K], located: &mut Vec<Located>) {
        located.clear();
        located.extend(keys.iter().map(|key| {
            let hash = key_hash(key);
            let slot = self.index.find(hash, |_| true).unwrap_or(NOWHERE);
            Located { hash, slot }
        }));
        for (located, key) in located.iter_mut().zip(keys) {
            if self.key(located.slot) != Some(key) {
                located.slot = NOWHERE;
            }
        }
    }

    /// As [`find_or_insert`](Self::find_or_insert) for a key that [`locate`](Self::locate) has looked for; the map
    /// may have changed since.
    #[inline]
    pub fn find_or_insert_located(
        &mut self,
        located: Located,
        key: K,
        value: impl FnOnce() -> V,
    ) -> u32 {
        match self.key(located.slot) {
            Some(other) if *other == key => located.slot,
            _ => self.find_or_insert(located.hash, key, value),
        }
    }

    /// Removes the entry at `slot`; the position may be used again by another key.
    pub fn remove(&mut self, slot: u32) -> Option<(K, V)> {
        let at = self.slots.get_mut(slot as usize)?;
        let entry = at.take()?;
        self.index.remove(key_hash(&entry.0), slot);
        self.free.push(slot);
        Some(entry)
    }

    /// The key at `slot`, if there is one.
    #[inline]
    pub fn key(&self, slot: u32) -> Option<&K> {
        self.slots.get(slot as usize)?.as_ref().map(|(key, _)| key)
    }

    /// The value at `slot`, if there is one.
    #[inline]
    pub fn value(&self, slot: u32) -> Option<&V> {
        self.slots
            .get(slot as usize)?
            .as_ref()
            .map(|(_, value)| value)
    }

    /// The value at `slot`, if there is one.
    #[inline]
    pub fn value_mut(&mut self, slot: u32) -> Option<&mut V> {
        self.slots
            .get_mut(slot as usize)?
            .as_mut()
            .map(|(_, value)| value)
    }

    /// One more than the highest position in use so far.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Entries by position: `(slot, hash, key, value)`.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &K, &V)> {
        self.slots.iter().enumerate().filter_map(|(slot, at)| {
            at.as_ref()
                .map(|(key, value)| (slot as u32, key_hash(key), key, value))
        })
    }

    /// Entries by position, as owned: `(hash, key, value)`.
    pub fn into_entries(self) -> impl Iterator<Item = (u64, K, V)> {
        let entries = self.slots.into_iter().flatten();
        entries.map(|(key, value)| (key_hash(&key), key, value))
    }

    /// Bytes held, without what keys and values point to.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Option<(K, V)>>()
            + self.index.bytes()
            + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_map_and_positions_stay(
            steps in proptest::collection::vec((0u16..40, any::<bool>()), 0..300)
        ) {
            let mut map = KeyMap::new();
            let mut model: BTreeMap<u16, u32> = BTreeMap::new();
            let mut located = Vec::new();
            for (step, (key, insert)) in steps.iter().copied().enumerate() {
                let hash = key_hash(&key);
                if step % 8 == 0 {
                    // What is located may be removed, moved or added before it is used.
                    let keys: Vec<u16> = steps.iter().skip(step).take(8).map(|step| step.0).collect();
                    map.locate(&keys, &mut located);
                }
                if insert {
                    let slot = map.find_or_insert_located(located[step % 8], key, || step);
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

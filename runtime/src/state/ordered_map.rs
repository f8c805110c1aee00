//! A map that is iterated in the order of insertion, for map state: the order in which a user sees the entries
//! must not change with a restore.
//!
//! Up to a handful of entries are searched one by one; only larger maps have a hash table.

use std::hash::Hash;

use hashbrown::HashTable;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::exchange::key_hash;

/// Up to this many places a map is searched without a hash table.
const LINEAR: usize = 8;

/// See the module's description. Removed entries leave a gap until half of the places are gaps.
#[derive(Clone, Debug)]
pub(crate) struct OrderedMap<K, V> {
    places: Vec<Option<(K, V)>>,
    len: usize,
    table: HashTable<u32>,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        OrderedMap {
            places: Vec::new(),
            len: 0,
            table: HashTable::new(),
        }
    }
}

impl<K: Hash + Eq, V> OrderedMap<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn find(&self, key: &K) -> Option<usize> {
        let is_key = |place: &Option<(K, V)>| matches!(place, Some((other, _)) if other == key);
        if self.table.is_empty() {
            return self.places.iter().position(is_key);
        }
        self.table
            .find(key_hash(key), |&place| is_key(&self.places[place as usize]))
            .map(|&place| place as usize)
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.find(key)
            .and_then(|place| self.places[place].as_ref())
            .map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.find(key)?;
        self.places[place].as_mut().map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        if self.places.len() > LINEAR && self.places.len() > 2 * self.len {
            self.compact();
        }
        self.places.push(Some((key, value)));
        self.len += 1;
        if self.places.len() > LINEAR {
            self.index();
        }
        None
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.find(key)?;
        if let Ok(entry) = self
            .table
            .find_entry(key_hash(key), |&other| other as usize == place)
        {
            entry.remove();
        }
        self.len -= 1;
        let (_, value) = self.places[place].take()?;
        if self.len == 0 {
            *self = OrderedMap::default();
        }
        Some(value)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        for place in &mut self.places {
            if let Some((key, value)) = place
                && !keep(key, value)
            {
                *place = None;
            }
        }
        self.compact();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.places
            .iter()
            .flatten()
            .map(|(key, value)| (key, value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.places.iter_mut().flatten().map(|(_, value)| value)
    }

    fn compact(&mut self) {
        self.places.retain(Option::is_some);
        self.len = self.places.len();
        self.table.clear();
        if self.places.len() > LINEAR {
            self.index();
        }
    }

    /// Puts into the table what is not in it yet: all, or the last entry.
    fn index(&mut self) {
        let places = &self.places;
        let hash_of = |place: u32| {
            places[place as usize]
                .as_ref()
                .map_or(0, |(key, _)| key_hash(key))
        };
        let first = if self.table.is_empty() {
            0
        } else {
            places.len() - 1
        };
        for (place, entry) in places.iter().enumerate().skip(first) {
            if entry.is_some() {
                let place = u32::try_from(place).expect("a map holds less than 2^32 entries");
                self.table
                    .insert_unique(hash_of(place), place, |&place| hash_of(place));
            }
        }
    }
}

impl<K: Serialize, V: Serialize> Serialize for OrderedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let mut seq = serializer.serialize_seq(Some(self.len))?;
        for entry in self.places.iter().flatten() {
            seq.serialize_element(entry)?;
        }
        seq.end()
    }
}

impl<'de, K: DeserializeOwned + Hash + Eq, V: DeserializeOwned> Deserialize<'de>
    for OrderedMap<K, V>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = OrderedMap::default();
        for (key, value) in Vec::<(K, V)>::deserialize(deserializer)? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn keeps_the_order_of_insertion(steps in proptest::collection::vec((0u8..30, 0u8..4), 0..200)) {
            let mut map = OrderedMap::default();
            let mut model: Vec<(u8, usize)> = Vec::new();
            for (step, (key, action)) in steps.into_iter().enumerate() {
                let at = model.iter().position(|(other, _)| *other == key);
                match action {
                    0 => {
                        let expected = at.map(|at| model.remove(at).1);
                        prop_assert_eq!(map.remove(&key), expected);
                    }
                    1 if step % 17 == 0 => {
                        map.retain(|key, _| key % 2 == 0);
                        model.retain(|(key, _)| key % 2 == 0);
                    }
                    _ => {
                        map.insert(key, step);
                        match at {
                            Some(at) => model[at].1 = step,
                            None => model.push((key, step)),
                        }
                    }
                }
                prop_assert_eq!(map.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(), model.clone());
                prop_assert_eq!(map.len(), model.len());
            }
            let bytes = bincode::serialize(&map).unwrap();
            let read: OrderedMap<u8, usize> = bincode::deserialize(&bytes).unwrap();
            prop_assert_eq!(read.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(), model);
        }
    }
}

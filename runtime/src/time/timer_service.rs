//! Timers: wake-up calls per key, in event time or processing time.
//!
//! Timers fire in the order of (time, registration). As in Flink there is at most one timer per owner and time.

use std::collections::BTreeMap;
use std::hash::Hash;

use hashbrown::HashTable;

use crate::exchange::key_hash;

/// Timers of one clock, each with an owner (a key's slot, or a slot and a window).
#[derive(Clone, Debug)]
pub struct TimerIndex<T> {
    times: BTreeMap<i64, Due<T>>,
    len: usize,
    next_sequence: u64,
}

/// The owners of the timers of one time, in the order of registration. Deleted ones leave gaps.
#[derive(Clone, Debug)]
struct Due<T> {
    owners: Vec<Option<(T, u64)>>,
    /// No owner stands before this place.
    first: usize,
    len: usize,
    /// Places by owner, when there are many.
    table: HashTable<u32>,
}

/// Up to this many places are searched one by one.
const LINEAR: usize = 8;

impl<T: Clone + Hash + Eq> Due<T> {
    fn new() -> Self {
        Due {
            owners: Vec::new(),
            first: 0,
            len: 0,
            table: HashTable::new(),
        }
    }

    fn find(&self, owner: &T) -> Option<usize> {
        let is_owner =
            |place: &Option<(T, u64)>| matches!(place, Some((other, _)) if other == owner);
        if self.table.is_empty() {
            return self.owners.iter().position(is_owner);
        }
        let found = self.table.find(key_hash(owner), |&place| {
            is_owner(&self.owners[place as usize])
        });
        found.map(|&place| place as usize)
    }

    fn push(&mut self, owner: T, sequence: u64) -> bool {
        if self.find(&owner).is_some() {
            return false;
        }
        if self.owners.len() > 2 * (self.len + LINEAR) {
            self.owners.retain(Option::is_some);
            self.first = 0;
            self.table.clear();
        }
        self.owners.push(Some((owner, sequence)));
        self.len += 1;
        if self.owners.len() > LINEAR {
            self.index();
        }
        true
    }

    /// Puts into the table what is not in it yet: all, or the last owner.
    fn index(&mut self) {
        let owners = &self.owners;
        let hash_of = |place: u32| {
            owners[place as usize]
                .as_ref()
                .map_or(0, |(owner, _)| key_hash(owner))
        };
        let from = if self.table.is_empty() {
            0
        } else {
            owners.len() - 1
        };
        for (place, owner) in owners.iter().enumerate().skip(from) {
            if owner.is_some() {
                let place = u32::try_from(place).expect("less than 2^32 timers have the same time");
                self.table
                    .insert_unique(hash_of(place), place, |&place| hash_of(place));
            }
        }
    }

    fn take(&mut self, place: usize) -> Option<(T, u64)> {
        if let Some((owner, _)) = &self.owners[place]
            && let Ok(found) = self
                .table
                .find_entry(key_hash(owner), |&other| other as usize == place)
        {
            found.remove();
        }
        self.len -= 1;
        self.owners[place].take()
    }

    /// The first owner's place and number.
    fn first(&mut self) -> Option<(usize, u64)> {
        while let Some(owner) = self.owners.get(self.first) {
            if let Some((_, sequence)) = owner {
                return Some((self.first, *sequence));
            }
            self.first += 1;
        }
        None
    }
}

impl<T> Default for TimerIndex<T> {
    fn default() -> Self {
        TimerIndex {
            times: BTreeMap::new(),
            len: 0,
            next_sequence: 0,
        }
    }
}

impl<T: Clone + Hash + Eq> TimerIndex<T> {
    /// No timers.
    pub fn new() -> Self {
        TimerIndex::default()
    }

    /// Adds a timer; false when the owner has one at this time already.
    pub fn register(&mut self, time: i64, owner: T) -> bool {
        let due = self.times.entry(time).or_insert_with(Due::new);
        let is_new = due.push(owner, self.next_sequence);
        if is_new {
            self.next_sequence += 1;
            self.len += 1;
        }
        is_new
    }

    /// Removes a timer; false when there is none.
    pub fn delete(&mut self, time: i64, owner: &T) -> bool {
        let Some(due) = self.times.get_mut(&time) else {
            return false;
        };
        let Some(place) = due.find(owner) else {
            return false;
        };
        due.take(place);
        self.len -= 1;
        if due.len == 0 {
            self.times.remove(&time);
        }
        true
    }

    /// Takes the first timer at or before `time`.
    pub fn pop_until(&mut self, time: i64) -> Option<(i64, T)> {
        self.pop_registered_before(time, u64::MAX)
    }

    /// Takes the first timer at or before `time`, if it was registered before [`sequence`](Self::sequence)
    /// answered `sequence`. Keeps a timer that registers itself for now from firing for ever.
    pub fn pop_registered_before(&mut self, time: i64, sequence: u64) -> Option<(i64, T)> {
        for (at, due) in self.times.range_mut(..=time) {
            let Some((place, registered)) = due.first() else {
                continue;
            };
            if registered >= sequence {
                continue;
            }
            let (at, owner) = (*at, due.take(place)?.0);
            self.len -= 1;
            if due.len == 0 {
                self.times.remove(&at);
            }
            return Some((at, owner));
        }
        None
    }

    /// The number the next timer will get.
    pub fn sequence(&self) -> u64 {
        self.next_sequence
    }

    /// The time of the first timer.
    pub fn first_time(&self) -> Option<i64> {
        self.times.first_key_value().map(|(time, _)| *time)
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without timers.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All timers in the order in which they would fire.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        self.times
            .iter()
            .flat_map(|(time, due)| due.owners.iter().flatten().map(|(owner, _)| (*time, owner)))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        self.len * (size_of::<T>() + 24) + self.times.len() * (size_of::<Due<T>>() + 16)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timers_fire_by_time_then_registration_and_once_per_owner() {
        let mut timers = TimerIndex::new();
        assert!(timers.register(20, 'a'));
        assert!(timers.register(10, 'b'));
        assert!(timers.register(10, 'a'));
        assert!(!timers.register(10, 'b'));
        assert!(timers.register(15, 'c'));
        assert!(timers.delete(15, &'c'));
        assert!(!timers.delete(15, &'c'));
        assert_eq!(timers.first_time(), Some(10));
        let fired: Vec<_> = std::iter::from_fn(|| timers.pop_until(20)).collect();
        assert_eq!(fired, [(10, 'b'), (10, 'a'), (20, 'a')]);
        assert!(
            timers.register(10, 'b'),
            "a fired timer can be registered again"
        );
        assert_eq!(timers.pop_until(9), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn behaves_like_a_sorted_list(
            steps in proptest::collection::vec((0i64..4, 0u8..40, 0u8..8), 0..300)
        ) {
            let mut timers = TimerIndex::new();
            let mut model: Vec<(i64, u64, u8)> = Vec::new();
            let mut sequence = 0;
            for (time, owner, action) in steps {
                let at = model.iter().position(|(other, _, holder)| (*other, *holder) == (time, owner));
                match action {
                    0..4 => {
                        prop_assert_eq!(timers.register(time, owner), at.is_none());
                        if at.is_none() {
                            model.push((time, sequence, owner));
                            sequence += 1;
                        }
                    }
                    4..7 => {
                        prop_assert_eq!(timers.delete(time, &owner), at.is_some());
                        at.map(|at| model.remove(at));
                    }
                    _ => {
                        model.sort_unstable();
                        let due = model.first().filter(|first| first.0 <= time).copied();
                        prop_assert_eq!(timers.pop_until(time), due.map(|(time, _, owner)| (time, owner)));
                        due.map(|_| model.remove(0));
                    }
                }
                model.sort_unstable();
                prop_assert_eq!(timers.len(), model.len());
                prop_assert_eq!(timers.first_time(), model.first().map(|(time, _, _)| *time));
            }
            let all: Vec<_> = timers.iter().map(|(time, owner)| (time, *owner)).collect();
            prop_assert_eq!(all, model.into_iter().map(|(time, _, owner)| (time, owner)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn timers_registered_while_firing_can_be_left_for_later() {
        let mut timers = TimerIndex::new();
        timers.register(10, 'a');
        let until = timers.sequence();
        assert_eq!(timers.pop_registered_before(10, until), Some((10, 'a')));
        timers.register(10, 'a');
        assert_eq!(timers.pop_registered_before(10, until), None);
        assert_eq!(timers.pop_until(10), Some((10, 'a')));
    }
}

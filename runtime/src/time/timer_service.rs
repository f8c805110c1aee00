//! Timers: wake-up calls per key, in event time or processing time.
//!
//! Timers fire in the order of (time, registration). As in Flink there is at most one timer per owner and time.

use std::collections::BTreeMap;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::exchange::FixedState;

/// Timers of one clock, each with an owner (a key's slot, or a slot and a window).
#[derive(Clone, Debug)]
pub struct TimerIndex<T> {
    by_time: BTreeMap<(i64, u64), T>,
    sequences: HashMap<(i64, T), u64, FixedState>,
    next_sequence: u64,
}

impl<T> Default for TimerIndex<T> {
    fn default() -> Self {
        TimerIndex {
            by_time: BTreeMap::new(),
            sequences: HashMap::with_hasher(FixedState::default()),
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
        let sequence = self.next_sequence;
        if *self
            .sequences
            .entry((time, owner.clone()))
            .or_insert(sequence)
            != sequence
        {
            return false;
        }
        self.by_time.insert((time, sequence), owner);
        self.next_sequence += 1;
        true
    }

    /// Removes a timer; false when there is none.
    pub fn delete(&mut self, time: i64, owner: &T) -> bool {
        match self.sequences.remove(&(time, owner.clone())) {
            Some(sequence) => self.by_time.remove(&(time, sequence)).is_some(),
            None => false,
        }
    }

    /// Takes the first timer at or before `time`.
    pub fn pop_until(&mut self, time: i64) -> Option<(i64, T)> {
        self.pop_registered_before(time, u64::MAX)
    }

    /// Takes the first timer at or before `time`, if it was registered before [`sequence`](Self::sequence)
    /// answered `sequence`. Keeps a timer that registers itself for now from firing for ever.
    pub fn pop_registered_before(&mut self, time: i64, sequence: u64) -> Option<(i64, T)> {
        let due = self.by_time.range(..=(time, u64::MAX));
        let key = due
            .map(|(key, _)| *key)
            .find(|(_, registered)| *registered < sequence)?;
        let owner = self.by_time.remove(&key)?;
        self.sequences.remove(&(key.0, owner.clone()));
        Some((key.0, owner))
    }

    /// The number the next timer will get.
    pub fn sequence(&self) -> u64 {
        self.next_sequence
    }

    /// The time of the first timer.
    pub fn first_time(&self) -> Option<i64> {
        self.by_time.first_key_value().map(|((time, _), _)| *time)
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.by_time.len()
    }

    /// True without timers.
    pub fn is_empty(&self) -> bool {
        self.by_time.is_empty()
    }

    /// All timers in the order in which they would fire.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        self.by_time.iter().map(|((time, _), owner)| (*time, owner))
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> usize {
        self.len() * 2 * (size_of::<T>() + 24)
    }
}

#[cfg(test)]
mod tests {
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

//! The aggregate of a sliding range of slices, at a constant number of merges per slice and window whatever the
//! size of the window, for merges that cannot be undone.
//!
//! The queue of two stacks: new slices are collected in `back` beside their running total; when the slices in
//! `front` have all slid out, `back` is turned over into `front` as totals from each slice to the newest. The range's
//! aggregate is the oldest total in `front` merged with the total of `back`. (Folklore; see Tangwongsan, Hirzel,
//! Schneider, "Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time", DEBS 2017, section 2.)

use serde::{Deserialize, Serialize};

/// Slices of one key by start. All slices in `front` are older than those in `back`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TwoStack<S> {
    /// `(start, total from this slice to the newest in front)`, the oldest last.
    front: Vec<(i64, S)>,
    /// `(start, slice)`, the oldest first.
    back: Vec<(i64, S)>,
    back_total: Option<S>,
}

impl<S> Default for TwoStack<S> {
    fn default() -> Self {
        TwoStack {
            front: Vec::new(),
            back: Vec::new(),
            back_total: None,
        }
    }
}

impl<S: Clone> TwoStack<S> {
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.front.is_empty() && self.back.is_empty()
    }

    /// Appends a slice that is newer than all others.
    pub(crate) fn push(&mut self, start: i64, slice: S, merge: impl Fn(S, S) -> S) {
        self.back_total = Some(match self.back_total.take() {
            Some(total) => merge(total, slice.clone()),
            None => slice.clone(),
        });
        self.back.push((start, slice));
    }

    /// Drops all slices that start before `start`.
    pub(crate) fn evict(&mut self, start: i64, merge: impl Fn(S, S) -> S) {
        while self.front.last().is_some_and(|(oldest, _)| *oldest < start) {
            self.front.pop();
        }
        if !self.front.is_empty() || self.back.first().is_none_or(|(oldest, _)| *oldest >= start) {
            return;
        }
        self.back_total = None;
        for (at, slice) in self.back.drain(..).rev().take_while(|(at, _)| *at >= start) {
            let total = match self.front.last() {
                Some((_, newer)) => merge(slice, newer.clone()),
                None => slice,
            };
            self.front.push((at, total));
        }
    }

    /// The aggregate of all slices.
    pub(crate) fn total(&self, merge: impl Fn(S, S) -> S) -> Option<S> {
        match (self.front.last(), &self.back_total) {
            (Some((_, older)), Some(newer)) => Some(merge(older.clone(), newer.clone())),
            (Some((_, total)), None) | (None, Some(total)) => Some(total.clone()),
            (None, None) => None,
        }
    }

    /// Adds to the slice at `start`, which may be anywhere. Costs up to the number of slices, but only late records
    /// come this way.
    pub(crate) fn add_late(&mut self, start: i64, add: impl Fn(Option<S>) -> S) {
        let in_front = self
            .front
            .first()
            .is_some_and(|(newest, _)| start <= *newest);
        if in_front {
            // Newest first: totals up to `start` hold the slice.
            let at = self.front.partition_point(|(slice, _)| *slice > start);
            if self.front.get(at).is_none_or(|(slice, _)| *slice != start) {
                let newer = self.front[..at].last().map(|(_, total)| total.clone());
                self.front.insert(at, (start, add(newer)));
                self.add_to(at + 1, add);
            } else {
                self.add_to(at, add);
            }
            return;
        }
        let at = self.back.partition_point(|(slice, _)| *slice < start);
        match self.back.get_mut(at).filter(|(slice, _)| *slice == start) {
            Some((_, slice)) => *slice = add(Some(slice.clone())),
            None => self.back.insert(at, (start, add(None))),
        }
        self.back_total = Some(add(self.back_total.take()));
    }

    fn add_to(&mut self, from: usize, add: impl Fn(Option<S>) -> S) {
        for (_, total) in &mut self.front[from..] {
            *total = add(Some(total.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn totals_are_those_of_the_range(
            steps in proptest::collection::vec((0i64..4, 0i64..3, any::<bool>(), 0i64..6), 0..80)
        ) {
            // Sums of distinct powers would be exact too; texts also check the order of merges.
            let merge = |a: String, b: String| a + &b;
            let mut stack = TwoStack::default();
            let mut model: BTreeMap<i64, String> = BTreeMap::new();
            let (mut newest, mut oldest) = (0, 0);
            for (push, slide, late, back) in steps {
                newest += push;
                if push > 0 {
                    stack.push(newest, newest.to_string() + ",", merge);
                    model.insert(newest, newest.to_string() + ",");
                }
                if late && newest - back >= oldest {
                    let add = |slice: Option<String>| slice.unwrap_or_default() + "L";
                    stack.add_late(newest - back, add);
                    let slice = model.entry(newest - back).or_default();
                    *slice += "L";
                }
                oldest = (oldest + slide).min(newest);
                stack.evict(oldest, merge);
                model = model.split_off(&oldest);
                let sorted = |text: String| { let mut all: Vec<char> = text.chars().collect(); all.sort_unstable(); all };
                let expected: String = model.values().cloned().collect();
                prop_assert_eq!(stack.is_empty(), model.is_empty());
                let total = stack.total(merge).unwrap_or_default();
                if expected.contains('L') {
                    prop_assert_eq!(sorted(total), sorted(expected));
                } else {
                    prop_assert_eq!(total, expected);
                }
            }
        }
    }

    #[test]
    fn merges_do_not_grow_with_the_window() {
        let merges = Cell::new(0u64);
        let merge = |a: u64, b: u64| {
            merges.set(merges.get() + 1);
            a + b
        };
        let (mut stack, slices, range) = (TwoStack::default(), 10_000i64, 500);
        for start in 0..slices {
            stack.push(start, 1u64, merge);
            stack.evict(start - range + 1, merge);
            assert_eq!(stack.total(merge), Some((start + 1).min(range) as u64));
        }
        assert!(merges.get() <= 3 * slices as u64, "{} merges", merges.get());
    }
}

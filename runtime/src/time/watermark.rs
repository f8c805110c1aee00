//! Promises about event time, and how an operator combines those of its inputs.
//!
//! A watermark `t` says that no record with a timestamp of `t` or less is still to come. Watermarks do not pass
//! through operators: each assigner (a source or an `assign_timestamps_and_watermarks` step) sends its updates once
//! to every operator that needs them, on an edge of their own, in the epoch in which they were made. At the close
//! of an epoch an operator therefore knows all updates up to that epoch, wherever they were made, and everything
//! that depends on them is deterministic.

use serde::{Deserialize, Serialize};

/// Before any promise was made.
pub const MIN_WATERMARK: i64 = i64::MIN;

/// No further record will come: all event timers fire.
pub const MAX_WATERMARK: i64 = i64::MAX;

/// One instance's promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Watermark {
    /// Nothing at or before this time (milliseconds) will come; [`MAX_WATERMARK`] ends the stream.
    At(i64),
    /// This instance has nothing to say for now: leave it out of the minimum.
    Idle,
}

/// A new promise of one instance of an assigner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatermarkUpdate {
    /// The worker the instance runs on.
    pub instance: u32,
    /// The promise.
    pub watermark: Watermark,
}

/// The minimum over all instances of all assigners in front of one input.
#[derive(Clone, Debug)]
pub struct WatermarkTracker {
    assigners: Vec<Vec<Watermark>>,
    current: i64,
}

impl WatermarkTracker {
    /// Tracks `assigners` assigners with `instances` instances each, none of which has promised anything.
    pub fn new(assigners: usize, instances: usize) -> Self {
        WatermarkTracker {
            assigners: vec![vec![Watermark::At(MIN_WATERMARK); instances]; assigners],
            current: MIN_WATERMARK,
        }
    }

    /// Only this instance of the assigner sends rows here; what the others promise does not matter.
    pub fn follow_only(&mut self, assigner: usize, instance: usize) {
        for (other, watermark) in self.assigners[assigner].iter_mut().enumerate() {
            if other != instance {
                *watermark = Watermark::At(MAX_WATERMARK);
            }
        }
    }

    /// Takes in one update. Promises never go back.
    pub fn update(&mut self, assigner: usize, update: WatermarkUpdate) {
        let slot = &mut self.assigners[assigner][update.instance as usize];
        *slot = match (*slot, update.watermark) {
            (Watermark::At(old), Watermark::At(new)) => Watermark::At(old.max(new)),
            (_, new) => new,
        };
    }

    /// Recomputes the minimum; it never falls, and stays where it is while all instances are idle.
    pub fn advance(&mut self) -> i64 {
        let minimum = self
            .assigners
            .iter()
            .flatten()
            .filter_map(|watermark| match watermark {
                Watermark::At(at) => Some(*at),
                Watermark::Idle => None,
            })
            .min();
        if let Some(minimum) = minimum {
            self.current = self.current.max(minimum);
        }
        self.current
    }

    /// The minimum as of the last [`advance`](Self::advance).
    pub fn current(&self) -> i64 {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(instance: u32, at: i64) -> WatermarkUpdate {
        WatermarkUpdate {
            instance,
            watermark: Watermark::At(at),
        }
    }

    #[test]
    fn the_minimum_counts_and_idle_instances_do_not() {
        let mut tracker = WatermarkTracker::new(2, 2);
        tracker.update(0, at(0, 10));
        tracker.update(0, at(1, 20));
        tracker.update(1, at(0, 5));
        assert_eq!(tracker.advance(), MIN_WATERMARK);
        tracker.update(
            1,
            WatermarkUpdate {
                instance: 1,
                watermark: Watermark::Idle,
            },
        );
        assert_eq!(tracker.advance(), 5);
        tracker.update(
            1,
            WatermarkUpdate {
                instance: 0,
                watermark: Watermark::Idle,
            },
        );
        assert_eq!(tracker.advance(), 10);
        tracker.update(1, at(0, 7));
        assert_eq!(tracker.advance(), 10, "a watermark never falls");
    }

    #[test]
    fn of_a_local_assigner_one_instance_counts() {
        let mut tracker = WatermarkTracker::new(2, 3);
        tracker.follow_only(0, 1);
        for instance in 0..3 {
            tracker.update(1, at(instance, 50));
        }
        assert_eq!(tracker.advance(), MIN_WATERMARK);
        tracker.update(0, at(1, 20));
        tracker.update(0, at(2, 10));
        assert_eq!(tracker.advance(), 20);
    }

    #[test]
    fn all_idle_keeps_the_last_promise() {
        let mut tracker = WatermarkTracker::new(1, 1);
        tracker.update(0, at(0, 10));
        tracker.advance();
        tracker.update(
            0,
            WatermarkUpdate {
                instance: 0,
                watermark: Watermark::Idle,
            },
        );
        assert_eq!(tracker.advance(), 10);
    }
}

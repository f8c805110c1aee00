//! The only reader of time in the runtime, apart from metrics.
//!
//! Jobs see time as the announced wall clock of an epoch, which worker 0 takes from here. A [`VirtualClock`] makes
//! that time a matter of the test.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Where announced time comes from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that only moves when it is told to.
    Virtual(VirtualClock),
}

impl Clock {
    /// Milliseconds since 1970.
    pub fn wall_millis(&self) -> i64 {
        match self {
            Clock::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| {
                    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
                }),
            Clock::Virtual(clock) => clock.millis(),
        }
    }
}

/// The instant for intervals and latencies; never shown to a job.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A wall clock for tests. Clones share the time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Arc<AtomicI64>);

impl VirtualClock {
    /// A clock that stands at `millis` milliseconds since 1970.
    pub fn at(millis: i64) -> Self {
        VirtualClock(Arc::new(AtomicI64::new(millis)))
    }

    /// Where it stands.
    pub fn millis(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves it forward.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

//! What an evaluation may know beside its input.

/// The surroundings of one evaluation: the same for all rows of an epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvalContext {
    /// The epoch's announced wall clock, in milliseconds since 1970 UTC. All clock functions read it.
    pub epoch_time_ms: i64,
    /// The session's time zone (`table.local-time-zone`).
    pub time_zone: TimeZone,
}

pub use aquifer_types::temporal::TimeZone;

impl EvalContext {
    /// Makes a context at a wall clock time, in UTC.
    #[must_use]
    pub fn at(epoch_time_ms: i64) -> Self {
        Self {
            epoch_time_ms,
            time_zone: TimeZone::default(),
        }
    }
}

/// What a kernel knows about its call.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    /// Number of rows to return.
    pub rows: usize,
    /// The evaluation's surroundings.
    pub eval: &'a EvalContext,
}

//! Aggregation into an accumulator, as Flink's `AggregateFunction`.

use crate::batch::StreamData;

/// Aggregates values of type `IN` into an accumulator, from which a result can be read at any time.
///
/// `merge` must be associative and agree with `add`: sliding windows are put together from slices of time, in the
/// order of time, and sessions from shorter sessions.
pub trait AggregateFunction<IN>: 'static {
    /// What is kept per key (and window).
    type Accumulator: StreamData;
    /// The result.
    type Output: StreamData;

    /// The accumulator of no values.
    fn create_accumulator(&self) -> Self::Accumulator;
    /// Takes in a value.
    fn add(&self, value: IN, accumulator: &mut Self::Accumulator);
    /// The result for what was taken in so far.
    #[doc(alias = "getResult")]
    fn result(&self, accumulator: &Self::Accumulator) -> Self::Output;
    /// Takes in all that `later` took in.
    fn merge(&self, accumulator: &mut Self::Accumulator, later: Self::Accumulator);
}

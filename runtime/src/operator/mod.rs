//! Operators: the trait they implement, what they hand over at a checkpoint, and those of the DataStream API.

mod epoch_operator;
mod snapshot;

pub use epoch_operator::{EpochEnd, EpochOperator, OperatorContext, Output, StateSize};
pub use snapshot::{
    EncodeState, MemoryState, RecordSink, Restore, Snapshot, StateKind, StateSnapshot, StateSource,
};

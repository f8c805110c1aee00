//! Operators: the trait they implement, what they hand over at a checkpoint, and those of the DataStream API.

mod aggregate_function;
mod co_process;
mod collector;
mod epoch_operator;
mod key_selector;
mod keyed_broadcast_process;
mod keyed_co_process;
#[cfg(test)]
pub(crate) mod keyed_harness;
mod keyed_process;
mod keyed_run;
mod late_data;
mod process;
mod reduce;
mod runtime_context;
mod side_output;
mod snapshot;
mod timestamps_and_watermarks;
mod window;
mod window_slice;

pub use aggregate_function::AggregateFunction;
pub use co_process::{CoProcessFunction, CoProcessOperator};
pub use collector::Collector;
pub use epoch_operator::{EpochEnd, EpochOperator, OperatorContext, Output, StateSize};
pub use key_selector::KeySelector;
pub use keyed_broadcast_process::{KeyedBroadcastProcessFunction, KeyedBroadcastProcessOperator};
pub use keyed_co_process::{KeyedCoProcessFunction, KeyedCoProcessOperator};
pub use keyed_process::{KeyedContext, KeyedProcessFunction, KeyedProcessOperator, OnTimerContext};
pub use late_data::LateData;
pub use process::{ProcessContext, ProcessFunction, ProcessOperator};
pub use reduce::ReduceOperator;
pub use runtime_context::RuntimeContext;
pub(crate) use side_output::SideOutputs;
pub use side_output::{OutputTag, SideOutputPorts};
pub use snapshot::{
    EncodeState, MemoryState, RecordSink, Restore, Snapshot, StateKind, StateSnapshot, StateSource,
};
pub use timestamps_and_watermarks::TimestampsAndWatermarksOperator;
pub use window::{WindowOperator, WindowParts};
pub use window_slice::SliceWindowOperator;

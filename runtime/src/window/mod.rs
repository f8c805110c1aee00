//! Windows over keyed streams: how records are assigned to them, when they fire, what they compute.
//!
//! An assigner gives each record its windows, a [`Trigger`] says when a window fires, and a [`WindowAggregation`]
//! is what a window keeps: a reduced value, an accumulator, or all elements. A [`ProcessWindowFunction`] turns it into
//! output. Two operators run them:
//!
//! - [`SliceWindowOperator`](crate::operator::SliceWindowOperator): tumbling and sliding event-time windows with the
//!   default trigger and a reduction: each record goes into one slice, and windows are put together from slices;
//! - [`WindowOperator`](crate::operator::WindowOperator): everything else, merging (session) windows included.
//!
//! Semantics are those of Flink's `WindowOperator`. The difference an epoch makes: event-time windows fire at the
//! end of an epoch, so a window that late records reach again fires once per epoch, not once per record.

mod aggregation;
mod assigner;
mod evictor;
mod function;
mod global;
#[cfg(test)]
pub(crate) mod model;
mod session;
mod slicing;
mod sliding;
mod time_window;
mod trigger;
mod triggers;
mod tumbling;
mod two_stack;

pub use aggregation::{
    AggregateElements, Elements, Evicting, ReduceElements, WindowAggregation, WindowElements,
};
pub use assigner::{Window, WindowAssigner};
pub use evictor::{CountEvictor, Evictor, EvictorContext, TimeEvictor};
pub use function::{EmitResults, ProcessWindowFunction, WindowContext};
pub use global::{GlobalWindow, GlobalWindows};
pub use session::{
    DynamicEventTimeSessionWindows, DynamicProcessingTimeSessionWindows, EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
};
pub use slicing::{SlicedWindows, Slicing};
pub use sliding::{SlidingEventTimeWindows, SlidingProcessingTimeWindows};
pub use time_window::TimeWindow;
pub use trigger::{Trigger, TriggerContext, TriggerResult};
pub use triggers::{
    ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger, CountTrigger, EventTimeTrigger,
    NeverTrigger, ProcessingTimeTrigger, PurgingTrigger,
};
pub use tumbling::{TumblingEventTimeWindows, TumblingProcessingTimeWindows};
pub(crate) use two_stack::TwoStack;

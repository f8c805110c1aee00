//! Streams and tables from one source: a stream processor with Flink's programming model on timely dataflow.
//!
//! This package brings the others together: [`prelude`] has what a program needs, and [`runtime`] has the rest of
//! the DataStream layer. `README.md` has recipes, and `examples/` whole programs.

pub use aquifer_runtime as runtime;

/// What a program needs: `use aquifer::prelude::*`.
pub mod prelude {
    pub use aquifer_runtime::operator::{
        AggregateFunction, Collector, KeyedContext, KeyedProcessFunction, OnTimerContext,
        OutputTag, ProcessContext, ProcessFunction, RuntimeContext,
    };
    pub use aquifer_runtime::state::{
        AggregatingState, AggregatingStateDescriptor, ListState, ListStateDescriptor, MapState,
        MapStateDescriptor, ReducingState, ReducingStateDescriptor, StateTtlConfig, ValueState,
        ValueStateDescriptor,
    };
    pub use aquifer_runtime::time::WatermarkStrategy;
    pub use aquifer_runtime::window::{
        CountTrigger, EventTimeSessionWindows, EventTimeTrigger, GlobalWindows,
        ProcessWindowFunction, PurgingTrigger, SlidingEventTimeWindows, TimeWindow,
        TumblingEventTimeWindows, TumblingProcessingTimeWindows, WindowContext,
    };
    pub use aquifer_runtime::{
        Configuration, DataStream, DataStreamSink, JobClient, JobExecutionResult, JobStatus,
        KeyedStream, RestartStrategy, Result, RuntimeError, Sink, SinkWriter, StreamData,
        StreamExecutionEnvironment, StreamIterator, WindowedStream,
    };
}

/// The programs of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

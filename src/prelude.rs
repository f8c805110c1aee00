//! What a program needs: `use aquifer::prelude::*`.

pub use aquifer_runtime::data_stream::{
    BroadcastConnectedStream, ConnectedStreams, KeyedConnectedStreams,
};
pub use aquifer_runtime::operator::{
    AggregateFunction, CoProcessFunction, Collector, KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction, KeyedContext, KeyedProcessFunction, OnTimerContext, OutputTag,
    ProcessContext, ProcessFunction, RuntimeContext,
};
pub use aquifer_runtime::state::{
    AggregatingState, AggregatingStateDescriptor, BroadcastState, ListState, ListStateDescriptor,
    MapState, MapStateDescriptor, ReducingState, ReducingStateDescriptor, StateTtlConfig,
    ValueState, ValueStateDescriptor,
};
pub use aquifer_runtime::time::{
    TimeDomain, TimerService, WatermarkGenerator, WatermarkOutput, WatermarkStrategy,
};
pub use aquifer_runtime::window::{
    ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger, CountEvictor, CountTrigger,
    EventTimeSessionWindows, EventTimeTrigger, Evictor, GlobalWindow, GlobalWindows,
    ProcessWindowFunction, ProcessingTimeSessionWindows, ProcessingTimeTrigger, PurgingTrigger,
    SlidingEventTimeWindows, SlidingProcessingTimeWindows, TimeEvictor, TimeWindow, Trigger,
    TriggerContext, TriggerResult, TumblingEventTimeWindows, TumblingProcessingTimeWindows,
    WindowAssigner, WindowContext,
};
pub use aquifer_runtime::{
    Configuration, DataStream, DataStreamSink, JobClient, JobExecutionResult, JobStatus,
    KeyedStream, OperatorContext, RestartStrategy, Result, RuntimeError, Sink, SinkWriter, Source,
    SourceOutput, SplitReader, StreamData, StreamExecutionEnvironment, StreamIterator,
    WindowedStream,
};
pub use aquifer_table::{
    EnvironmentSettings, InsertOptions, ResultKind, StatementSet, StreamStatementSet, Table,
    TableConfig, TablePipeline, TableResult,
};
pub use aquifer_table_common::expression::{Expr, call, col, lit};
pub use aquifer_table_common::operation::{ExplainDetail, ExplainFormat};
pub use aquifer_table_common::{FormatDescriptor, Schema, TableDescriptor, TableError};
pub use aquifer_types::{
    ChangelogMode, DataType, DataTypes, Decimal, Row, RowKind, Timestamp, Value, row_values,
};

pub use crate::{StreamTableEnvironment, TableEnvironment};

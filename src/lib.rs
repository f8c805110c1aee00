//! Streams and tables from one source: a stream processor with Flink's programming model on timely dataflow.
//!
//! This package brings the others together: [`prelude`] has what a program needs; [`runtime`] has the rest of the
//! DataStream layer, [`table`], [`table_common`] and [`types`] that of the table layer. `README.md` has recipes, and `examples/` whole programs.

mod tables;

pub use aquifer_connectors as connectors;
pub use aquifer_runtime as runtime;
pub use aquifer_table as table;
pub use aquifer_table_common as table_common;
pub use aquifer_types as types;
pub use tables::{StreamTableEnvironment, TableEnvironment};

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
}

/// The programs of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

//! DataStream runtime of Aquifer: epochs, watermarks, keyed state, checkpoints and jobs on timely dataflow.
//!
//! Layers, each using those below it:
//!
//! 1. `environment`, `data_stream`: what a user writes. Collects transformations.
//! 2. [`transformation`], `stream_graph`: the description of a job, checked before anything is built.
//! 3. `executor`, `coordinator`: long-lived workers, jobs, epochs and checkpoints.
//! 4. `render`, `driver`: the graph as a timely dataflow, operators stepped epoch by epoch.
//! 5. [`operator`], [`source`], [`time`]: the code that runs.
//! 6. [`batch`], [`exchange`]: what travels on the edges and how it finds its worker.

pub mod batch;
pub mod checkpoint;
pub mod cluster;
pub mod config;
pub mod data_stream;
mod driver;
mod environment;
pub mod epoch;
pub mod error;
pub mod exchange;
pub mod executor;
pub mod metrics;
pub mod operator;
mod render;
pub mod source;
pub mod state;
pub mod stream_graph;
#[doc(hidden)]
pub mod testing;
pub mod time;
pub mod transformation;
pub mod window;

pub use batch::{
    BATCH_ROWS, Batch, BatchCodec, BatchData, NO_TIMESTAMP, StreamBatch, StreamCodec, StreamData,
};
pub use config::{ConfigOption, Configuration};
pub use data_stream::{
    DataStream, DataStreamSink, KeyedStream, Sink, SinkWriter, StreamIterator, WindowedStream,
};
pub use environment::StreamExecutionEnvironment;
pub use error::{Result, RuntimeError};
pub use exchange::Exchange;
pub use executor::{
    JobClient, JobExecutionResult, JobStatus, PEER_LOST_EXIT_CODE, RestartStrategy,
};
pub use operator::{EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
pub use source::{Boundedness, Source, SourceOutput, SourceReader, SourceStatus, SplitReader};
pub use transformation::{Edge, OutputPort, Transformation, TransformationId, TransformationKind};

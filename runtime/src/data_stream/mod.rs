//! The streams of a program.

mod collect;
mod data_stream;
mod print;
mod sink;
mod socket;
mod sources;

pub use collect::StreamIterator;
pub use data_stream::DataStream;
pub use sink::{DataStreamSink, Sink, SinkWriter};

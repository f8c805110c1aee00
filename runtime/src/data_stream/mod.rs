//! The streams of a program.

mod collect;
mod print;
mod sink;
mod socket;
mod sources;
mod stream;

pub use collect::StreamIterator;
pub use sink::{DataStreamSink, Sink, SinkWriter};
pub use stream::DataStream;

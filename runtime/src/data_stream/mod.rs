//! The streams of a program.

mod collect;
mod connected;
mod keyed;
mod print;
mod process;
mod sink;
mod socket;
mod sources;
mod stream;
mod windowed;

pub use collect::StreamIterator;
pub use connected::{BroadcastConnectedStream, ConnectedStreams, KeyedConnectedStreams};
pub use keyed::KeyedStream;
pub use sink::{DataStreamSink, Sink, SinkWriter};
pub use stream::DataStream;
pub use windowed::WindowedStream;

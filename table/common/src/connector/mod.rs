//! What connectors and formats implement, and how they are found.
//!
//! A [`DynamicTableFactory`] makes a [`DynamicTableSource`] or [`DynamicTableSink`] from a table's
//! schema and options; a [`FormatFactory`] makes the [`DecodingFormat`] or [`EncodingFormat`] that
//! a connector asks its [`FactoryContext`] for. The planner turns the source's [`ScanProvider`] and
//! the sink's [`SinkProvider`] into pieces of the job. All batches on the edges are
//! [`ChangeBatch`](aquifer_types::ChangeBatch)es.

mod factory;
mod format;
mod registry;
mod sink;
mod source;

pub use factory::{DynamicTableFactory, FactoryContext};
pub use format::{
    DecodeError, Decoded, Decoder, DecoderContext, DecodingFormat, Encoder, EncodingFormat,
    FormatFactory,
};
pub use registry::FactoryRegistry;
pub use sink::{DynamicTableSink, SinkContext, SinkProvider};
pub use source::{DynamicTableSource, ScanColumn, ScanColumnKind, ScanContext, ScanProvider};

//! The execution plan: the only thing that execution sees.
//!
//! An [`ExecNodeGraph`] is a list of nodes, inputs before their readers, each with a stable id and
//! a versioned type. As JSON it is the compiled plan. A node turns itself into pieces of the job
//! ([`ExecNodeGraph::translate`]); its state is found again by `<node id>_<type>_<state name>`.
//!
//! Invariants: an edge points to a node of lower id; a column index is within its input's columns;
//! the same plan is made from the same statements on every worker of every process.

mod builder;
mod calc;
mod changelog_normalize;
mod data_stream_scan;
mod group_aggregate;
mod join;
mod mode_names;
mod node;
mod output;
mod sink;
mod table_source_scan;
mod translate;
mod union;
mod values;
mod watermark_assigner;
mod window_aggregate;
mod window_table_function;

#[cfg(test)]
mod tests;

pub use builder::GraphBuilder;
pub use calc::Calc;
pub use changelog_normalize::ChangelogNormalize;
pub use data_stream_scan::DataStreamScan;
pub use group_aggregate::GroupAggregate;
pub(crate) use group_aggregate::describe_call;
pub use join::Join;
pub use node::{Distribution, ExecEdge, ExecNode, ExecNodeGraph, ExecNodeKind, StateDescription};
pub use output::Output;
pub use sink::Sink;
pub use table_source_scan::TableSourceScan;
pub use translate::{TranslateContext, Translated};
pub use union::Union;
pub use values::Values;
pub use watermark_assigner::WatermarkAssigner;
pub use window_aggregate::WindowAggregate;
pub use window_table_function::WindowTableFunction;
pub(crate) use window_table_function::window_text;

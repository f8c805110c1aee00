//! Columnar batches of changes: what flows between table operators.
//!
//! A [`ChangeBatch`] is a list of Arrow columns and a signed weight per row (+1 adds a row, -1
//! takes one away; all +1 if weights are absent). Values cross its border through
//! [`ColumnBuilder`] and [`column_value`]; [`ChangeBatch::encode`] is its wire form.

mod change_batch;
mod codec;
mod column_builder;
mod column_value;
mod edge;

pub use change_batch::{ChangeBatch, ChangeBatchBuilder};
pub use column_builder::{ColumnBuilder, ColumnParts, scalar_array};
pub use column_value::column_value;
pub use edge::ChangeBatchCodec;

#[cfg(test)]
mod tests;

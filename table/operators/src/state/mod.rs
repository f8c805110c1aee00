//! State containers, shared by the operators: columnar, addressed by dense numbers.
//!
//! - [`GroupIndex`]: key columns to dense group numbers.
//! - [`RowStore`]: rows in growable columns, addressed by slot.
//! - [`RowIndex`]: key to rows with weights, on top of both.
//! - [`hash_columns`]: the routing hash of key columns.

mod fixed_width;
pub(crate) mod frames;
mod group_index;
mod hash;
pub(crate) mod net_changes;
mod row_index;
mod row_store;

pub use group_index::{GroupIndex, NO_GROUP};
pub use hash::hash_columns;
pub use row_index::RowIndex;
pub use row_store::{NO_SLOT, RowStore};

pub(crate) use fixed_width::for_each_word;

//! Relational operators and their state containers.
//!
//! Operators are [`EpochOperator`](aquifer_runtime::EpochOperator)s over change batches: columns with a weight per
//! row. Each handles the rows of an epoch as they come and emits the epoch's net change, so that no transient row
//! leaves an epoch.

mod consolidate;
mod error;
mod exchange;
pub mod state;
mod to_rows;

pub use consolidate::consolidate;
pub use exchange::{HashPartitioner, hash_exchange};
pub use to_rows::ChangesToRows;

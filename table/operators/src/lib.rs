//! Relational operators and their state containers.
//!
//! Operators are [`EpochOperator`](aquifer_runtime::EpochOperator)s over change batches: columns with a weight per
//! row. Each handles the rows of an epoch as they come and emits the epoch's net change, so that no transient row
//! leaves an epoch.

pub mod state;

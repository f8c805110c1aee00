//! Relational operators and their state containers.
//!
//! Operators are [`EpochOperator`](aquifer_runtime::EpochOperator)s over change batches: columns with a weight per
//! row. Each handles the rows of an epoch as they come and emits the epoch's net change, so that no transient row
//! leaves an epoch.

mod aggregators;
mod calc;
mod changelog_normalize;
mod consolidate;
mod deduplicate;
mod emit;
mod error;
mod exchange;
mod group_aggregate;
pub mod join;
mod latest_row;
mod rank;
mod set_operation;
pub mod state;
#[cfg(test)]
mod testing;
mod to_rows;
mod watermark_assigner;
pub mod window;

pub use aggregators::AggregateCall;
pub use calc::{Calc, CalcOperator, calc_step, needs_clock};
pub use changelog_normalize::ChangelogNormalizeOperator;
pub use consolidate::{consolidate, consolidate_by_key};
pub use deduplicate::{DeduplicateOperator, Keep};
pub use exchange::{HashPartitioner, hash_exchange};
pub use group_aggregate::{GroupAggregateOperator, GroupAggregateParameters};
pub use rank::{RankOperator, RankParameters, SortColumn};
pub use set_operation::{SetOperation, SetOperator};
pub use to_rows::{ChangesToRows, ChangesToRowsOperator, rows_to_changes};
pub use watermark_assigner::WatermarkAssignerOperator;

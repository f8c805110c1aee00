//! Whether an operation's output ends by itself.

use aquifer_runtime::Boundedness;
use aquifer_table_common::operation::QueryOperation;

/// Whether all inputs end by themselves.
pub fn is_bounded(operation: &QueryOperation) -> bool {
    match operation {
        QueryOperation::Source(q) => q.boundedness == Boundedness::Bounded,
        QueryOperation::DataStream(q) => q.boundedness == Boundedness::Bounded,
        other => other.children().into_iter().all(|child| is_bounded(child)),
    }
}

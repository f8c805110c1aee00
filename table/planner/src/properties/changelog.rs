//! Which kinds of changes an operation produces, and which operation is to blame for updates.
//!
//! Inside the engine a change is a row with a weight, so that an output either only appends or also
//! retracts; kinds beyond that are made at the border.

use aquifer_table_common::operation::{JoinType, QueryOperation};
use aquifer_types::ChangelogMode;

use super::window::window_grouping;

/// Whether the output is never retracted.
pub fn is_append_only(operation: &QueryOperation) -> bool {
    if is_final(operation) {
        return true;
    }
    makes_updates(operation).is_none()
        && operation.children().into_iter().all(|c| is_append_only(c))
}

/// The kinds of changes of the output.
pub fn changelog_mode(operation: &QueryOperation) -> ChangelogMode {
    if is_append_only(operation) {
        ChangelogMode::insert_only()
    } else {
        ChangelogMode::all()
    }
}

/// The topmost operation that makes updates where its input only appends, in words.
pub fn update_cause(operation: &QueryOperation) -> Option<String> {
    if is_final(operation) {
        return None;
    }
    if let Some(cause) = operation
        .children()
        .into_iter()
        .find_map(|c| update_cause(c))
    {
        return Some(cause);
    }
    makes_updates(operation)
}

/// Whether an operation's rows are never taken back, whatever its input does: a window is given out
/// once it is complete.
fn is_final(operation: &QueryOperation) -> bool {
    matches!(operation, QueryOperation::Aggregate(q) if window_grouping(q).is_some())
}

/// Why an operation produces updates even if its inputs only append.
fn makes_updates(operation: &QueryOperation) -> Option<String> {
    match operation {
        QueryOperation::Source(q) if !q.changelog_mode.is_insert_only() => Some(format!(
            "The updates come from table {}, which produces {}.",
            q.table.identifier, q.changelog_mode
        )),
        QueryOperation::DataStream(q) if !q.changelog_mode.is_insert_only() => Some(format!(
            "The updates come from stream '{}', which holds {}.",
            q.name, q.changelog_mode
        )),
        QueryOperation::Aggregate(q) => {
            let fields = q.input.fields();
            let keys: Vec<&str> = q
                .grouping
                .iter()
                .map(|g| fields[*g].name.as_str())
                .collect();
            Some(if keys.is_empty() {
                "The updates come from an aggregation over all rows: each row changes its result."
                    .to_string()
            } else {
                format!(
                    "The updates come from GROUP BY {}: each row changes its group's result.",
                    keys.join(", ")
                )
            })
        }
        QueryOperation::Join(q) if q.join_type == JoinType::Anti => Some(
            "The updates come from NOT IN or NOT EXISTS: a row is taken back when its match comes."
                .to_string(),
        ),
        QueryOperation::Join(q) if !matches!(q.join_type, JoinType::Inner | JoinType::Semi) => {
            Some(format!(
                "The updates come from an outer join ({}): a padded row is taken back when its match comes.",
                q.join_type.name()
            ))
        }
        _ => None,
    }
}

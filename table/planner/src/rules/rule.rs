//! What a rule is, and the phases that run them.

use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::operation::QueryOperation;

use super::constant_folding::ConstantFolding;
use super::filter_push_down::FilterPushDown;
use super::join_keys::JoinKeys;
use super::project_merge::ProjectMerge;
use super::projection_pruning::prune;

/// Rewrites one node, whose children have been rewritten before.
pub trait Rule: Sync {
    /// The name, for plans and logs.
    fn name(&self) -> &'static str;

    /// The node in its better form; none if the rule does not apply.
    ///
    /// # Errors
    /// A broken invariant of the tree.
    fn apply(&self, operation: &QueryOperation) -> Result<Option<QueryOperation>>;
}

/// Rules that run together until nothing changes.
pub struct Phase {
    /// The name, for plans and logs.
    pub name: &'static str,
    /// The rules, tried in order at each node.
    pub rules: &'static [&'static dyn Rule],
}

/// The phases in order; pruning comes between the first and the second.
pub const PHASES: &[Phase] = &[
    Phase {
        name: "push down",
        rules: &[&ConstantFolding, &FilterPushDown, &ProjectMerge],
    },
    Phase {
        name: "physical form",
        rules: &[&JoinKeys, &ProjectMerge],
    },
];

/// A bound on how often a phase walks the tree; every rule moves work down or removes it, so that
/// real trees settle within a few walks.
const MAX_WALKS: usize = 50;

/// Rewrites a tree by all phases. The columns stay the same, their names too.
///
/// # Errors
/// A broken invariant of the tree.
pub fn optimize(operation: &QueryOperation) -> Result<QueryOperation> {
    let mut tree = operation.clone();
    for (index, phase) in PHASES.iter().enumerate() {
        if index == 1 {
            tree = prune(&tree)?;
        }
        for _ in 0..MAX_WALKS {
            let (next, changed) = walk(&tree, phase)?;
            tree = next;
            if !changed {
                break;
            }
        }
    }
    Ok(tree)
}

/// Applies a phase's rules to all nodes, children first.
fn walk(operation: &QueryOperation, phase: &Phase) -> Result<(QueryOperation, bool)> {
    stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || {
        let mut changed = false;
        let mut children = Vec::new();
        for child in operation.children() {
            let (next, child_changed) = walk(child, phase)?;
            changed |= child_changed;
            children.push(if child_changed {
                Arc::new(next)
            } else {
                child.clone()
            });
        }
        let mut node = if changed {
            operation.with_children(children)
        } else {
            operation.clone()
        };
        for rule in phase.rules {
            if let Some(next) = rule.apply(&node)? {
                node = next;
                changed = true;
            }
        }
        Ok((node, changed))
    })
}

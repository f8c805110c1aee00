//! Computes constant parts of expressions once, and removes filters that keep all rows or none.
//!
//! A part that fails when computed, such as `1 / 0`, stays as it is: it fails at run time if it is
//! ever evaluated.

use aquifer_functions::evaluator::fold_constants;
use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{
    FilterQuery, JoinQuery, ProjectQuery, QueryOperation, ValuesQuery,
};

use super::expressions::{conjunction, conjuncts, is_never, is_true};
use super::rule::Rule;

/// See the module's description.
pub(super) struct ConstantFolding;

impl Rule for ConstantFolding {
    fn name(&self) -> &'static str {
        "constant folding"
    }

    fn apply(&self, operation: &QueryOperation) -> Result<Option<QueryOperation>> {
        match operation {
            QueryOperation::Project(q) => {
                let expressions: Vec<ResolvedExpr> =
                    q.expressions.iter().cloned().map(fold_constants).collect();
                let changed = expressions != q.expressions;
                Ok(changed.then(|| {
                    QueryOperation::Project(ProjectQuery {
                        expressions,
                        ..q.clone()
                    })
                }))
            }
            QueryOperation::Filter(q) => {
                let condition = fold_condition(&q.condition)?;
                if is_true(&condition) {
                    return Ok(Some(q.input.as_ref().clone()));
                }
                if is_never(&condition) {
                    let fields = q.input.fields();
                    return Ok(Some(QueryOperation::Values(ValuesQuery {
                        rows: Vec::new(),
                        fields,
                    })));
                }
                let changed = condition != q.condition;
                Ok(changed.then(|| {
                    QueryOperation::Filter(FilterQuery {
                        condition,
                        input: q.input.clone(),
                    })
                }))
            }
            QueryOperation::Join(q) => {
                let condition = fold_condition(&q.condition)?;
                let changed = condition != q.condition;
                Ok(changed.then(|| {
                    QueryOperation::Join(JoinQuery {
                        condition,
                        ..q.clone()
                    })
                }))
            }
            _ => Ok(None),
        }
    }
}

/// A condition with its constant parts computed and TRUE parts left out.
fn fold_condition(condition: &ResolvedExpr) -> Result<ResolvedExpr> {
    let before = conjuncts(condition);
    let after: Vec<ResolvedExpr> = before
        .iter()
        .cloned()
        .map(fold_constants)
        .filter(|c| !is_true(c))
        .collect();
    if let Some(never) = after.iter().find(|c| is_never(c)) {
        return Ok(never.clone());
    }
    if after == before {
        Ok(condition.clone())
    } else {
        conjunction(after)
    }
}

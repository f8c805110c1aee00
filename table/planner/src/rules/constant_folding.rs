//! Computes constant parts of expressions once, and removes filters that keep all rows or none and
//! inputs without rows.
//!
//! A part that fails when computed, such as `1 / 0`, stays as it is: it fails at run time if it is
//! ever evaluated.

use std::sync::Arc;

use aquifer_functions::evaluator::fold_constants;
use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{
    FilterQuery, JoinQuery, ProjectQuery, QueryOperation, SetQuery, ValuesQuery,
};

use aquifer_types::Field;

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
            QueryOperation::Set(q) => {
                let is_empty = |input: &Arc<QueryOperation>| matches!(input.as_ref(), QueryOperation::Values(v) if v.rows.is_empty());
                let inputs: Vec<_> = q.inputs.iter().filter(|i| !is_empty(i)).cloned().collect();
                if inputs.len() == q.inputs.len() {
                    return Ok(None);
                }
                Ok(Some(union_of(inputs, &q.fields)))
            }
            _ => Ok(None),
        }
    }
}

/// The rows of any number of inputs under the names of `fields`.
fn union_of(inputs: Vec<Arc<QueryOperation>>, fields: &[Field]) -> QueryOperation {
    match inputs.as_slice() {
        [] => QueryOperation::Values(ValuesQuery {
            rows: Vec::new(),
            fields: fields.to_vec(),
        }),
        [one] => QueryOperation::Project(ProjectQuery {
            expressions: fields
                .iter()
                .enumerate()
                .map(|(i, f)| ResolvedExpr::input(i, f.data_type.clone()))
                .collect(),
            fields: fields.to_vec(),
            input: one.clone(),
        }),
        _ => QueryOperation::Set(SetQuery {
            inputs,
            fields: fields.to_vec(),
        }),
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

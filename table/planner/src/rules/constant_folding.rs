//! Computes constant parts of expressions once, and removes filters that keep all rows or none and
//! inputs without rows.
//!
//! A part that fails when computed, such as `1 / 0`, stays as it is: it fails at run time if it is
//! ever evaluated.

use std::sync::Arc;

use aquifer_functions::aggregate::find_aggregate;
use aquifer_functions::evaluator::fold_constants;
use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{
    AggregateCall, FilterQuery, JoinQuery, JoinType, ProjectQuery, QueryOperation, SetQuery,
    ValuesQuery,
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
        if passes_nothing_on(operation) {
            let fields = operation.fields();
            return Ok(Some(QueryOperation::Values(ValuesQuery {
                rows: Vec::new(),
                fields,
            })));
        }
        match operation {
            QueryOperation::Project(ProjectQuery {
                expressions,
                fields,
                input,
            }) if let QueryOperation::Values(values) = input.as_ref()
                && values
                    .rows
                    .iter()
                    .flatten()
                    .all(|e| e.as_literal().is_some()) =>
            {
                let row = |row: &Vec<ResolvedExpr>| {
                    expressions
                        .iter()
                        .map(|e| fold_constants(e.clone().substitute(row)))
                        .collect()
                };
                let rows = values.rows.iter().map(row).collect();
                Ok(Some(QueryOperation::Values(ValuesQuery {
                    rows,
                    fields: fields.clone(),
                })))
            }
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
            QueryOperation::Aggregate(q) if q.grouping.is_empty() && is_empty(&q.input) => {
                let row = q
                    .aggregates
                    .iter()
                    .map(value_over_no_rows)
                    .collect::<Result<_>>()?;
                let rows = vec![row];
                Ok(Some(QueryOperation::Values(ValuesQuery {
                    rows,
                    fields: q.fields.clone(),
                })))
            }
            QueryOperation::Set(q) => {
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

/// Whether an operation has no rows because an input has none.
fn passes_nothing_on(operation: &QueryOperation) -> bool {
    match operation {
        QueryOperation::Project(q) => is_empty(&q.input),
        QueryOperation::Filter(q) => is_empty(&q.input),
        QueryOperation::Distinct(q) => is_empty(&q.input),
        QueryOperation::Window(q) => is_empty(&q.input),
        QueryOperation::Aggregate(q) => is_empty(&q.input) && !q.grouping.is_empty(),
        QueryOperation::Join(q) => {
            let needs_right = !q.join_type.pads_right() && q.join_type != JoinType::Anti;
            is_empty(&q.left) && !q.join_type.pads_left() || is_empty(&q.right) && needs_right
        }
        _ => false,
    }
}

/// Whether an operation is known to have no rows.
fn is_empty(operation: &QueryOperation) -> bool {
    matches!(operation, QueryOperation::Values(values) if values.rows.is_empty())
}

/// What an aggregate over all rows gives when it is known that there are none.
fn value_over_no_rows(call: &AggregateCall) -> Result<ResolvedExpr> {
    let data_type = call.field.data_type.clone();
    if find_aggregate(&call.function)?.is_null_when_empty() {
        return Ok(ResolvedExpr::null_of(data_type));
    }
    Ok(fold_constants(ResolvedExpr::literal(0).cast(data_type)?))
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

//! Makes one projection of two in a row, and drops projections that change nothing.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{ProjectQuery, QueryOperation};

use super::expressions::stays_small;
use super::rule::Rule;

/// See the module's description.
pub(super) struct ProjectMerge;

impl Rule for ProjectMerge {
    fn name(&self) -> &'static str {
        "project merge"
    }

    fn apply(&self, operation: &QueryOperation) -> Result<Option<QueryOperation>> {
        let QueryOperation::Project(outer) = operation else {
            return Ok(None);
        };
        if is_identity(outer) {
            return Ok(Some(outer.input.as_ref().clone()));
        }
        let QueryOperation::Project(inner) = outer.input.as_ref() else {
            return Ok(None);
        };
        if !may_merge(outer, inner) || !stays_small(&outer.expressions, &inner.expressions) {
            return Ok(None);
        }
        let expressions = outer
            .expressions
            .iter()
            .map(|e| e.clone().substitute(&inner.expressions))
            .collect();
        Ok(Some(QueryOperation::Project(ProjectQuery {
            expressions,
            fields: outer.fields.clone(),
            input: inner.input.clone(),
        })))
    }
}

/// Whether a projection gives its input's columns, with their names.
fn is_identity(project: &ProjectQuery) -> bool {
    let fields = project.input.fields();
    fields.len() == project.expressions.len()
        && project
            .expressions
            .iter()
            .enumerate()
            .all(|(i, e)| e.as_input() == Some(i))
        && fields
            .iter()
            .zip(&project.fields)
            .all(|(a, b)| a.name == b.name)
}

/// An expression below may be moved up if that does not compute it twice. One that is not
/// deterministic must not even be moved past a use that is conditional.
fn may_merge(outer: &ProjectQuery, inner: &ProjectQuery) -> bool {
    let mut uses = vec![0usize; inner.expressions.len()];
    for expression in &outer.expressions {
        expression.visit(&mut |node| {
            if let ResolvedExpr::InputRef { index, .. } = node {
                uses[*index] += 1;
            }
        });
    }
    inner
        .expressions
        .iter()
        .zip(uses)
        .all(|(expression, uses)| match expression {
            ResolvedExpr::InputRef { .. } | ResolvedExpr::Literal { .. } => true,
            other => uses <= 1 && (other.is_deterministic() || uses == 0),
        })
}

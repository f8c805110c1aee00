//! Helpers on conditions, shared by the rules.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_types::{DataTypes, Value};

/// The parts of a condition that are joined by AND.
pub(crate) fn conjuncts(condition: &ResolvedExpr) -> Vec<ResolvedExpr> {
    let mut parts = Vec::new();
    let mut rest = vec![condition];
    while let Some(next) = rest.pop() {
        match next {
            ResolvedExpr::Call { function, args, .. } if function == "AND" => {
                rest.extend(args.iter().rev());
            }
            other => parts.push(other.clone()),
        }
    }
    parts
}

/// The parts joined by AND as a balanced tree; none give TRUE.
pub(super) fn conjunction(mut parts: Vec<ResolvedExpr>) -> Result<ResolvedExpr> {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut pairs = parts.into_iter();
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => ResolvedExpr::call("AND", [left, right])?,
                None => left,
            });
        }
        parts = next;
    }
    Ok(parts.pop().unwrap_or_else(true_literal))
}

/// Largest number of nodes up to which rules put expressions into others.
const MAX_SIZE: usize = 1000;

/// Whether putting the expressions of a projection into the places where others name its columns
/// keeps those small. Each level of `SELECT x + x AS x FROM (..)` doubles what stands above it, and
/// levels without number make a tree of any depth.
pub(super) fn stays_small(outer: &[ResolvedExpr], inner: &[ResolvedExpr]) -> bool {
    let sizes: Vec<usize> = inner.iter().map(ResolvedExpr::size).collect();
    let mut before = 0;
    let mut after = 0usize;
    for expression in outer {
        expression.visit(&mut |node| {
            before += 1;
            after = after.saturating_add(match node {
                ResolvedExpr::InputRef { index, .. } => sizes[*index],
                _ => 1,
            });
        });
    }
    after <= before.max(MAX_SIZE)
}

/// TRUE.
pub(super) fn true_literal() -> ResolvedExpr {
    ResolvedExpr::typed_literal(Value::Boolean(true), DataTypes::boolean().not_null())
}

/// Whether this is the literal TRUE.
pub(super) fn is_true(expression: &ResolvedExpr) -> bool {
    expression.as_literal() == Some(&Value::Boolean(true))
}

/// Whether this is the literal FALSE or NULL, under which no row is kept.
pub(super) fn is_never(expression: &ResolvedExpr) -> bool {
    matches!(
        expression.as_literal(),
        Some(Value::Boolean(false) | Value::Null)
    )
}

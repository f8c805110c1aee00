//! Moves conditions towards the sources, so that fewer rows are carried, kept and joined.
//!
//! Conditions that are not deterministic stay where they are, and none moves below a watermark
//! assigner: rows that are dropped still advance event time.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{FilterQuery, JoinQuery, JoinType, QueryOperation};

use super::expressions::{conjunction, conjuncts, is_true, stays_small, true_literal};
use super::rule::Rule;

/// See the module's description.
pub(super) struct FilterPushDown;

impl Rule for FilterPushDown {
    fn name(&self) -> &'static str {
        "filter push-down"
    }

    fn apply(&self, operation: &QueryOperation) -> Result<Option<QueryOperation>> {
        match operation {
            QueryOperation::Filter(q) => push_filter(q),
            QueryOperation::Join(q) => push_join_condition(q),
            _ => Ok(None),
        }
    }
}

fn filter(parts: Vec<ResolvedExpr>, input: Arc<QueryOperation>) -> Result<Arc<QueryOperation>> {
    if parts.is_empty() {
        return Ok(input);
    }
    let condition = conjunction(parts)?;
    Ok(Arc::new(QueryOperation::Filter(FilterQuery {
        condition,
        input,
    })))
}

fn unwrap(operation: Arc<QueryOperation>) -> QueryOperation {
    Arc::unwrap_or_clone(operation)
}

fn push_filter(q: &FilterQuery) -> Result<Option<QueryOperation>> {
    let (moving, staying): (Vec<_>, Vec<_>) = conjuncts(&q.condition)
        .into_iter()
        .partition(ResolvedExpr::is_deterministic);
    if moving.is_empty() {
        return Ok(None);
    }
    match q.input.as_ref() {
        QueryOperation::Filter(inner) => {
            let mut parts = conjuncts(&inner.condition);
            parts.extend(conjuncts(&q.condition));
            Ok(Some(unwrap(filter(parts, inner.input.clone())?)))
        }
        QueryOperation::Project(project) => {
            let reads_deterministic = |part: &ResolvedExpr| {
                stays_small(std::slice::from_ref(part), &project.expressions)
                    && part
                        .inputs()
                        .iter()
                        .all(|i| project.expressions[*i].is_deterministic())
            };
            let (moving, kept): (Vec<_>, Vec<_>) =
                moving.into_iter().partition(reads_deterministic);
            if moving.is_empty() {
                return Ok(None);
            }
            let moved = moving
                .into_iter()
                .map(|p| p.substitute(&project.expressions))
                .collect();
            let input = filter(moved, project.input.clone())?;
            let below = q.input.with_children(vec![input]);
            Ok(Some(unwrap(filter(
                [kept, staying].concat(),
                Arc::new(below),
            )?)))
        }
        QueryOperation::Set(set) => {
            let inputs = set
                .inputs
                .iter()
                .map(|i| filter(moving.clone(), i.clone()))
                .collect::<Result<Vec<_>>>()?;
            let below = q.input.with_children(inputs);
            Ok(Some(unwrap(filter(staying, Arc::new(below))?)))
        }
        QueryOperation::Distinct(distinct) => {
            let below = q
                .input
                .with_children(vec![filter(moving, distinct.input.clone())?]);
            Ok(Some(unwrap(filter(staying, Arc::new(below))?)))
        }
        QueryOperation::Aggregate(aggregate) => {
            // Only conditions on the grouping columns; without groups the one row stays.
            let keys = aggregate.grouping.len();
            let (moving, kept): (Vec<_>, Vec<_>) = moving.into_iter().partition(|part| {
                let inputs = part.inputs();
                !inputs.is_empty() && inputs.iter().all(|i| *i < keys)
            });
            if moving.is_empty() {
                return Ok(None);
            }
            let moved = moving
                .into_iter()
                .map(|p| p.map_inputs(&mut |i| aggregate.grouping[i]))
                .collect();
            let below = q
                .input
                .with_children(vec![filter(moved, aggregate.input.clone())?]);
            Ok(Some(unwrap(filter(
                [kept, staying].concat(),
                Arc::new(below),
            )?)))
        }
        QueryOperation::Window(window) => {
            let width = window.input.fields().len();
            let reads_input = |part: &ResolvedExpr| part.inputs().last().is_none_or(|i| *i < width);
            let (moving, kept): (Vec<_>, Vec<_>) = moving.into_iter().partition(reads_input);
            if moving.is_empty() {
                return Ok(None);
            }
            let below = q
                .input
                .with_children(vec![filter(moving, window.input.clone())?]);
            Ok(Some(unwrap(filter(
                [kept, staying].concat(),
                Arc::new(below),
            )?)))
        }
        QueryOperation::Join(join) => push_through_join(join, moving, staying),
        QueryOperation::Source(_)
        | QueryOperation::DataStream(_)
        | QueryOperation::Values(_)
        | QueryOperation::Watermark(_) => Ok(None),
    }
}

/// Which side's columns a condition reads.
#[derive(PartialEq, Eq)]
enum Reads {
    Left,
    Right,
    Both,
}

fn reads(part: &ResolvedExpr, width: usize) -> Reads {
    let inputs = part.inputs();
    match (inputs.first(), inputs.last()) {
        (Some(_), Some(last)) if *last < width => Reads::Left,
        (Some(first), Some(_)) if *first >= width => Reads::Right,
        _ => Reads::Both,
    }
}

/// A condition above a join goes to the side it reads unless that side is padded; one that reads
/// both sides of an inner join becomes part of the join's condition.
fn push_through_join(
    join: &JoinQuery,
    moving: Vec<ResolvedExpr>,
    staying: Vec<ResolvedExpr>,
) -> Result<Option<QueryOperation>> {
    let width = join.left.fields().len();
    let (mut left, mut right, mut on, mut above) = (Vec::new(), Vec::new(), Vec::new(), staying);
    for part in moving {
        match reads(&part, width) {
            Reads::Left if !join.join_type.pads_left() => left.push(part),
            Reads::Right if !join.join_type.pads_right() => {
                let fields = join.right.fields();
                right.push(retyped(part.map_inputs(&mut |i| i - width), &fields));
            }
            Reads::Both if join.join_type == JoinType::Inner => on.push(part),
            _ => above.push(part),
        }
    }
    if left.is_empty() && right.is_empty() && on.is_empty() {
        return Ok(None);
    }
    let left_fields = join.left.fields();
    let left = left.into_iter().map(|p| retyped(p, &left_fields)).collect();
    let condition = if on.is_empty() {
        join.condition.clone()
    } else {
        on.splice(
            0..0,
            conjuncts(&join.condition)
                .into_iter()
                .filter(|c| !is_true(c)),
        );
        conjunction(on)?
    };
    let below = QueryOperation::Join(JoinQuery {
        condition,
        left: filter(left, join.left.clone())?,
        right: filter(right, join.right.clone())?,
        ..join.clone()
    });
    Ok(Some(unwrap(filter(above, Arc::new(below))?)))
}

/// Parts of a join's condition that read one side are moved to that side where this drops no row
/// that must be padded.
fn push_join_condition(join: &JoinQuery) -> Result<Option<QueryOperation>> {
    let width = join.left.fields().len();
    let (mut left, mut right, mut on) = (Vec::new(), Vec::new(), Vec::new());
    for part in conjuncts(&join.condition) {
        let moves = part.is_deterministic();
        match reads(&part, width) {
            Reads::Left
                if moves
                    && matches!(
                        join.join_type,
                        JoinType::Inner | JoinType::Right | JoinType::Semi
                    ) =>
            {
                left.push(part);
            }
            Reads::Right
                if moves
                    && matches!(
                        join.join_type,
                        JoinType::Inner | JoinType::Left | JoinType::Semi | JoinType::Anti
                    ) =>
            {
                right.push(part.map_inputs(&mut |i| i - width));
            }
            _ => on.push(part),
        }
    }
    if left.is_empty() && right.is_empty() {
        return Ok(None);
    }
    let condition = if on.is_empty() {
        true_literal()
    } else {
        conjunction(on)?
    };
    Ok(Some(QueryOperation::Join(JoinQuery {
        condition,
        left: filter(left, join.left.clone())?,
        right: filter(right, join.right.clone())?,
        ..join.clone()
    })))
}

/// A condition whose column types are those of the fields; under padding they were nullable.
fn retyped(part: ResolvedExpr, fields: &[aquifer_types::Field]) -> ResolvedExpr {
    part.transform(&mut |node| match node {
        ResolvedExpr::InputRef { index, .. } => {
            ResolvedExpr::input(index, fields[index].data_type.clone())
        }
        other => other,
    })
}

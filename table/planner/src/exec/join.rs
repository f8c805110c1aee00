//! Joins two inputs.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_operators::join::{JoinInput, JoinOperator, JoinType as OperatorJoinType};
use aquifer_runtime::{EpochOperator, OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_table_common::operation::{JoinQuery, JoinType};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{DataType, Field};
use serde::{Deserialize, Serialize};

use super::node::{expression_text, types_of};
use super::translate::NodeContext;
use crate::properties::is_append_only;
use crate::rules::{conjuncts, sides};

/// Pairs rows whose keys are equal and that meet a further condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Which rows are kept.
    pub join_type: JoinType,
    /// The left side's key columns; without keys every row meets every other.
    pub left_keys: Vec<usize>,
    /// The right side's key columns.
    pub right_keys: Vec<usize>,
    /// Per key whether NULL equals NULL.
    pub null_safe: Vec<bool>,
    /// What else must hold, over the columns of both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ResolvedExpr>,
    /// Per side whether it never retracts.
    pub append_only_inputs: [bool; 2],
}

impl Join {
    /// Takes a join's condition apart into keys and the rest.
    ///
    /// # Errors
    /// A broken invariant of the tree.
    pub(super) fn new(q: &JoinQuery) -> Result<Self> {
        let width = q.left.fields().len();
        let mut join = Join {
            join_type: q.join_type,
            left_keys: Vec::new(),
            right_keys: Vec::new(),
            null_safe: Vec::new(),
            condition: None,
            append_only_inputs: [is_append_only(&q.left), is_append_only(&q.right)],
        };
        let mut rest = Vec::new();
        for part in conjuncts(&q.condition) {
            let key =
                sides(&part, width).and_then(|(f, l, r)| Some((f, l.as_input()?, r.as_input()?)));
            match key {
                Some((function, left, right)) => {
                    join.left_keys.push(left);
                    join.right_keys.push(right - width);
                    join.null_safe.push(function != "=");
                }
                None if part.as_literal() == Some(&aquifer_types::Value::Boolean(true)) => {}
                None => rest.push(part),
            }
        }
        if !rest.is_empty() {
            join.condition = Some(ResolvedExpr::and(rest)?);
        }
        Ok(join)
    }

    pub(super) fn describe(&self, inputs: &[Vec<Field>]) -> String {
        let name = |side: usize, column: usize| {
            inputs
                .get(side)
                .and_then(|f| f.get(column))
                .map_or_else(|| format!("${column}"), |f| f.name.clone())
        };
        let mut parts: Vec<String> = self
            .left_keys
            .iter()
            .zip(&self.right_keys)
            .zip(&self.null_safe)
            .map(|((l, r), null_safe)| {
                let operator = if *null_safe {
                    "IS NOT DISTINCT FROM"
                } else {
                    "="
                };
                format!("{} {operator} {}", name(0, *l), name(1, *r))
            })
            .collect();
        if let Some(condition) = &self.condition {
            let fields: Vec<Field> = inputs.concat();
            parts.push(expression_text(condition, &fields));
        }
        let on = if parts.is_empty() {
            "true".to_string()
        } else {
            parts.join(" AND ")
        };
        format!("Join(joinType=[{}], where=[{on}])", self.join_type.name())
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let types = [0, 1].map(|side| types_of(&at.inputs[side].1.output));
        let make = {
            let (join, zone) = (self.clone(), at.context.time_zone);
            move || join.operator(&types, zone)
        };
        make()?;
        let factory = std::sync::Arc::new(move || {
            Box::new(make().expect("it was made when the plan was translated"))
                as Box<dyn EpochOperator>
        });
        let name = at.node.description.clone();
        Ok(at.add(Transformation::operator(
            name,
            at.edges(),
            vec![at.codec()],
            factory,
        )))
    }

    fn operator(
        &self,
        types: &[Vec<DataType>; 2],
        zone: TimeZone,
    ) -> aquifer_runtime::Result<JoinOperator> {
        let input = |side: usize, keys: &[usize]| JoinInput {
            types: types[side].clone(),
            keys: keys.to_vec(),
            append_only: self.append_only_inputs[side],
        };
        let join_type = match self.join_type {
            JoinType::Inner => OperatorJoinType::Inner,
            JoinType::Left => OperatorJoinType::Left,
            JoinType::Right => OperatorJoinType::Right,
            JoinType::Full => OperatorJoinType::Full,
            JoinType::Semi => OperatorJoinType::Semi,
            JoinType::Anti => OperatorJoinType::Anti,
        };
        JoinOperator::new(
            input(0, &self.left_keys),
            input(1, &self.right_keys),
            join_type,
            self.null_safe.clone(),
            self.condition.as_ref(),
            zone,
        )
    }
}

//! Makes columns of the expressions that an equi-join compares.
//!
//! `ON a.x + 1 = b.y` becomes a join of two columns: each side computes its key below the join, and
//! the additional columns are dropped above it. Afterwards every comparison that can be a key is of
//! the form column = column with one column from each side and equal kinds of types.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{JoinQuery, ProjectQuery, QueryOperation};
use aquifer_types::Field;

use super::expressions::{conjunction, conjuncts};
use super::rule::Rule;

/// See the module's description.
pub(super) struct JoinKeys;

/// Comparisons by which rows can be brought together.
pub(crate) const EQUALITIES: [&str; 2] = ["=", "IS NOT DISTINCT FROM"];

impl Rule for JoinKeys {
    fn name(&self) -> &'static str {
        "join keys"
    }

    fn apply(&self, operation: &QueryOperation) -> Result<Option<QueryOperation>> {
        let QueryOperation::Join(join) = operation else {
            return Ok(None);
        };
        let width = join.left.fields().len();
        let mut left = Side::new(&join.left);
        let mut right = Side::new(&join.right);
        // New right columns come after all left ones, whose number is known at the end.
        let mut parts = Vec::new();
        for part in conjuncts(&join.condition) {
            parts.push(match sides(&part, width) {
                Some((function, l, r)) if l.as_input().is_none() || r.as_input().is_none() => {
                    let r = r.map_inputs(&mut |i| i - width);
                    Part::Key {
                        function,
                        left: left.column(l),
                        right: right.column(r),
                    }
                }
                _ => Part::Other(part),
            });
        }
        if left.added() + right.added() == 0 {
            return Ok(None);
        }
        let new_width = width + left.added();
        let mut condition = Vec::with_capacity(parts.len());
        for part in parts {
            condition.push(match part {
                Part::Other(part) => {
                    part.map_inputs(&mut |i| if i < width { i } else { i - width + new_width })
                }
                Part::Key {
                    function,
                    left: l,
                    right: r,
                } => {
                    let l = ResolvedExpr::input(l, left.fields[l].data_type.clone());
                    let r = ResolvedExpr::input(r + new_width, right.fields[r].data_type.clone());
                    ResolvedExpr::call(&function, [l, r])?
                }
            });
        }
        let right_width = right.width;
        let mut fields: Vec<Field> = join.fields[..width].to_vec();
        fields.extend(
            left.fields[width..]
                .iter()
                .map(|f| padded(f, join.join_type.pads_left())),
        );
        if join.join_type.keeps_right() {
            fields.extend_from_slice(&join.fields[width..]);
            let added = right.fields[right_width..].iter();
            fields.extend(added.map(|f| padded(f, join.join_type.pads_right())));
        }
        let below = JoinQuery {
            join_type: join.join_type,
            condition: conjunction(condition)?,
            fields,
            left: left.operation(),
            right: right.operation(),
        };
        let expressions = (0..join.fields.len())
            .map(|i| {
                let place = if i < width { i } else { i - width + new_width };
                ResolvedExpr::input(place, join.fields[i].data_type.clone())
            })
            .collect();
        Ok(Some(QueryOperation::Project(ProjectQuery {
            expressions,
            fields: join.fields.clone(),
            input: Arc::new(QueryOperation::Join(below)),
        })))
    }
}

fn padded(field: &Field, pads: bool) -> Field {
    let data_type = if pads {
        field.data_type.clone().null()
    } else {
        field.data_type.clone()
    };
    Field::new(field.name.clone(), data_type)
}

enum Part {
    Key {
        function: String,
        left: usize,
        right: usize,
    },
    Other(ResolvedExpr),
}

/// The two sides of a comparison that can be a key: the first reads the left input alone, the
/// second the right input alone.
pub(crate) fn sides(
    part: &ResolvedExpr,
    width: usize,
) -> Option<(String, ResolvedExpr, ResolvedExpr)> {
    let ResolvedExpr::Call { function, args, .. } = part else {
        return None;
    };
    let [a, b] = args.as_slice() else { return None };
    let kinds_match = a.data_type().to_arrow() == b.data_type().to_arrow();
    if !EQUALITIES.contains(&function.as_str()) || !kinds_match || !part.is_deterministic() {
        return None;
    }
    let is_left = |e: &ResolvedExpr| e.inputs().last().is_some_and(|i| *i < width);
    let is_right = |e: &ResolvedExpr| e.inputs().first().is_some_and(|i| *i >= width);
    if is_left(a) && is_right(b) {
        Some((function.clone(), a.clone(), b.clone()))
    } else if is_right(a) && is_left(b) {
        Some((function.clone(), b.clone(), a.clone()))
    } else {
        None
    }
}

/// An input with the key columns that are added to it.
struct Side<'a> {
    input: &'a Arc<QueryOperation>,
    width: usize,
    expressions: Vec<ResolvedExpr>,
    fields: Vec<Field>,
}

impl<'a> Side<'a> {
    fn new(input: &'a Arc<QueryOperation>) -> Self {
        let fields = input.fields();
        let expressions = fields
            .iter()
            .enumerate()
            .map(|(i, f)| ResolvedExpr::input(i, f.data_type.clone()))
            .collect();
        Side {
            input,
            width: fields.len(),
            expressions,
            fields,
        }
    }

    fn added(&self) -> usize {
        self.fields.len() - self.width
    }

    /// The column that holds an expression.
    fn column(&mut self, expression: ResolvedExpr) -> usize {
        if let Some(index) = self.expressions.iter().position(|e| *e == expression) {
            return index;
        }
        let index = self.fields.len();
        self.fields.push(Field::new(
            format!("$k{index}"),
            expression.data_type().clone(),
        ));
        self.expressions.push(expression);
        index
    }

    fn operation(self) -> Arc<QueryOperation> {
        if self.added() == 0 {
            return self.input.clone();
        }
        Arc::new(QueryOperation::Project(ProjectQuery {
            expressions: self.expressions,
            fields: self.fields,
            input: self.input.clone(),
        }))
    }
}

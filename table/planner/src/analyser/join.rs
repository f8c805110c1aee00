//! Joins: ON, USING, NATURAL and the cross join.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{JoinQuery, JoinType, QueryOperation};
use aquifer_table_common::{Result, TableError};
use aquifer_types::Field;
use sqlparser::ast::{JoinConstraint, Spanned};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::expression::Resolver;
use super::from::Input;
use super::scope::Scope;

impl Analyser<'_> {
    /// Joins two inputs.
    pub(super) fn join(
        &self,
        left: Input,
        right: Input,
        join_type: JoinType,
        constraint: &JoinConstraint,
        span: Span,
    ) -> Result<Input> {
        let pad = |field: Field, pads: bool| {
            if pads {
                Field {
                    data_type: field.data_type.null(),
                    ..field
                }
            } else {
                field
            }
        };
        let inner_fields: Vec<Field> = left
            .0
            .fields()
            .into_iter()
            .chain(right.0.fields())
            .collect();
        let width = left.1.width();
        let fields: Vec<Field> = inner_fields
            .iter()
            .cloned()
            .enumerate()
            .map(|(i, f)| {
                pad(
                    f,
                    if i < width {
                        join_type.pads_left()
                    } else {
                        join_type.pads_right()
                    },
                )
            })
            .collect();

        // The condition sees the rows before they are padded.
        let inner_scope = left.1.clone().join(right.1.clone(), &inner_fields);
        let mut merges: Vec<(String, ResolvedExpr, ResolvedExpr)> = Vec::new();
        let condition = match constraint {
            JoinConstraint::None => ResolvedExpr::literal(true),
            JoinConstraint::On(expr) => Resolver::new(self, &inner_scope, "ON").condition(expr)?,
            JoinConstraint::Using(names) => {
                for name in names {
                    let parts = self.name_parts(name, name.span())?;
                    merges.push(self.using_column(&parts, &left.1, &right.1, name.span())?);
                }
                self.equalities(&merges, width, span)?
            }
            JoinConstraint::UsingAlias(..) => {
                return Err(self.unsupported("USING with an alias", span));
            }
            JoinConstraint::Natural => {
                let names = right.1.column_names();
                for name in left.1.column_names() {
                    if names.contains(&name) && !merges.iter().any(|(n, ..)| *n == name) {
                        merges.push(self.using_column(&[name], &left.1, &right.1, span)?);
                    }
                }
                self.equalities(&merges, width, span)?
            }
        };

        let mut scope = left.1.join(right.1, &fields);
        for (name, left, right) in merges {
            let retype = |value: ResolvedExpr, shift: usize| {
                value.transform(&mut |node| match node {
                    ResolvedExpr::InputRef { index, .. } => {
                        ResolvedExpr::input(index + shift, fields[index + shift].data_type.clone())
                    }
                    other => other,
                })
            };
            let columns: Vec<usize> = left
                .inputs()
                .into_iter()
                .chain(right.inputs().into_iter().map(|i| i + width))
                .collect();
            let (left, right) = (retype(left, 0), retype(right, width));
            let value = match join_type {
                JoinType::Inner | JoinType::Left | JoinType::Semi | JoinType::Anti => left,
                JoinType::Right => right,
                JoinType::Full => ResolvedExpr::call("COALESCE", [left, right])
                    .map_err(|e| TableError::from(e).at(self.place(span)))?,
            };
            scope.merge(&name, value, columns);
        }
        let operation = QueryOperation::Join(JoinQuery {
            join_type,
            condition,
            fields,
            left: Arc::new(left.0),
            right: Arc::new(right.0),
        });
        Ok((operation, scope))
    }

    fn using_column(
        &self,
        parts: &[String],
        left: &Scope,
        right: &Scope,
        span: Span,
    ) -> Result<(String, ResolvedExpr, ResolvedExpr)> {
        let find = |scope: &Scope| {
            scope
                .find(parts)
                .map(|(v, _)| v)
                .map_err(|e| self.invalid(e, span))
        };
        let [name] = parts else {
            return Err(self.invalid_clause("USING takes bare column names", span));
        };
        Ok((name.clone(), find(left)?, find(right)?))
    }

    /// The condition that the columns named by USING are equal.
    fn equalities(
        &self,
        merges: &[(String, ResolvedExpr, ResolvedExpr)],
        width: usize,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let equality = |(_, left, right): &(String, ResolvedExpr, ResolvedExpr)| {
            let right = right.clone().map_inputs(&mut |i| i + width);
            ResolvedExpr::call("=", [left.clone(), right])
        };
        let all = merges.iter().map(equality).collect::<Result<Vec<_>, _>>();
        all.and_then(ResolvedExpr::and)
            .map_err(|e| TableError::from(e).at(self.place(span)))
    }
}

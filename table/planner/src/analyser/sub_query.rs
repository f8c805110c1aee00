//! WHERE, and sub-queries in it: IN, NOT IN, EXISTS and NOT EXISTS.
//!
//! Such a condition that stands by itself or under AND becomes a semi join, under NOT an anti join,
//! of the rows with the sub-query. A sub-query may name columns of the query around it in its own
//! WHERE. NOT IN follows SQL's rule for NULL: a row is kept only where every comparison is FALSE.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{FilterQuery, JoinQuery, JoinType, QueryOperation};
use aquifer_table_common::{Result, TableError};
use aquifer_types::Field;
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, InTarget, Query, Select, SelectItem, SetExpr, UnaryOperator,
};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::begin::begin_of_query;
use super::expression::Resolver;
use super::scope::Scope;

/// A condition with a sub-query.
struct SubQuery<'e> {
    query: &'e Query,
    /// What is looked for in it, by IN.
    value: Option<&'e Expr>,
    is_negated: bool,
}

/// The other side of a semi or anti join.
struct Tested {
    right: QueryOperation,
    /// Conditions over the columns of both sides.
    conditions: Vec<ResolvedExpr>,
}

impl Analyser<'_> {
    /// The rows for which a WHERE condition is true.
    pub(super) fn filter(
        &self,
        input: QueryOperation,
        scope: &Scope,
        condition: &Expr,
    ) -> Result<QueryOperation> {
        let mut plain = Vec::new();
        let mut sub_queries = Vec::new();
        split(condition, &mut plain, &mut sub_queries);
        let mut resolver = Resolver::new(self, scope, "WHERE");
        let condition = if sub_queries.is_empty() {
            Some(resolver.condition(condition)?)
        } else {
            let parts = plain
                .into_iter()
                .map(|e| resolver.condition(e))
                .collect::<Result<Vec<_>>>()?;
            if parts.is_empty() {
                None
            } else {
                Some(ResolvedExpr::and(parts)?)
            }
        };
        let mut operation = match condition {
            Some(condition) => QueryOperation::Filter(FilterQuery {
                condition,
                input: Arc::new(input),
            }),
            None => input,
        };
        for sub_query in &sub_queries {
            operation = self.test(operation, scope, sub_query)?;
        }
        Ok(operation)
    }

    /// Keeps the rows that have, or do not have, a match in a sub-query.
    fn test(
        &self,
        left: QueryOperation,
        scope: &Scope,
        sub_query: &SubQuery<'_>,
    ) -> Result<QueryOperation> {
        let span = begin_of_query(sub_query.query);
        let fields = left.fields();
        let tested = match self.query(sub_query.query) {
            Ok(right) => self.independent(right, scope, sub_query, span)?,
            // Names that the sub-query does not have may be those of the query around it.
            Err(error) if error.code().starts_with("validation.unknown_") => {
                self.correlated(&fields, scope, sub_query, error)?
            }
            Err(error) => return Err(error),
        };
        let join_type = if sub_query.is_negated {
            JoinType::Anti
        } else {
            JoinType::Semi
        };
        let condition = ResolvedExpr::and(tested.conditions)?;
        let (left, right) = (Arc::new(left), Arc::new(tested.right));
        Ok(QueryOperation::Join(JoinQuery {
            join_type,
            condition,
            fields,
            left,
            right,
        }))
    }

    /// A sub-query that names no column of the query around it.
    fn independent(
        &self,
        right: QueryOperation,
        scope: &Scope,
        sub_query: &SubQuery<'_>,
        span: Span,
    ) -> Result<Tested> {
        let mut conditions = Vec::new();
        if let Some(value) = sub_query.value {
            let columns = right.fields();
            let [column] = columns.as_slice() else {
                let message = format!(
                    "the sub-query of IN must have one column, but it has {}",
                    columns.len()
                );
                return Err(self.invalid_clause(message, span));
            };
            let found = ResolvedExpr::input(scope.width(), column.data_type.clone());
            let value = Resolver::new(self, scope, "WHERE").expr(value)?;
            conditions.push(self.is_in(value, found, sub_query.is_negated, span)?);
        }
        Ok(Tested { right, conditions })
    }

    /// A sub-query whose WHERE names columns of the query around it.
    fn correlated(
        &self,
        outer_fields: &[Field],
        outer: &Scope,
        sub_query: &SubQuery<'_>,
        error: TableError,
    ) -> Result<Tested> {
        let span = begin_of_query(sub_query.query);
        let Some(select) = plain_select(sub_query.query) else {
            return Err(error);
        };
        let (right, inner) = self.from(&select.from)?;
        let fields: Vec<Field> = outer_fields.iter().cloned().chain(right.fields()).collect();
        let scope = Scope::correlated(outer, &inner, &fields);
        let mut resolver = Resolver::new(self, &scope, "WHERE");
        let mut conditions = Vec::new();
        if let Some(condition) = &select.selection {
            conditions.push(resolver.condition(condition)?);
        }
        if let Some(value) = sub_query.value {
            let [SelectItem::UnnamedExpr(found) | SelectItem::ExprWithAlias { expr: found, .. }] =
                select.projection.as_slice()
            else {
                return Err(self.invalid_clause("the sub-query of IN must have one column", span));
            };
            let found = resolver.expr(found)?;
            let value = Resolver::new(self, outer, "WHERE").expr(value)?;
            conditions.push(self.is_in(value, found, sub_query.is_negated, span)?);
        } else {
            // EXISTS does not need the columns, but wrong ones are wrong all the same.
            for item in &select.projection {
                if let SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } = item
                {
                    resolver.expr(e)?;
                }
            }
        }
        Ok(Tested { right, conditions })
    }

    /// The condition under which a value counts as found; under NOT IN an unknown comparison counts.
    fn is_in(
        &self,
        value: ResolvedExpr,
        found: ResolvedExpr,
        is_negated: bool,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let may_be_unknown = value.data_type().nullable || found.data_type().nullable;
        let equal = ResolvedExpr::call("=", [value, found]);
        let condition = if is_negated && may_be_unknown {
            equal.and_then(|equal| ResolvedExpr::call("IS NOT FALSE", [equal]))
        } else {
            equal
        };
        condition.map_err(|e| TableError::from(e).at(self.place(span)))
    }
}

/// Takes a condition apart at AND: parts with a sub-query and others.
fn split<'e>(condition: &'e Expr, plain: &mut Vec<&'e Expr>, sub_queries: &mut Vec<SubQuery<'e>>) {
    let mut rest = vec![condition];
    while let Some(part) = rest.pop() {
        match part {
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And,
                right,
            } => rest.extend([right.as_ref(), left.as_ref()]),
            Expr::Nested(inner)
                if matches!(
                    inner.as_ref(),
                    Expr::BinaryOp {
                        op: BinaryOperator::And,
                        ..
                    }
                ) =>
            {
                rest.push(inner);
            }
            other => match sub_query_of(other, false) {
                Some(sub_query) => sub_queries.push(sub_query),
                None => plain.push(other),
            },
        }
    }
}

fn sub_query_of(expr: &Expr, is_negated: bool) -> Option<SubQuery<'_>> {
    match expr {
        Expr::Nested(inner) => sub_query_of(inner, is_negated),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => sub_query_of(expr, !is_negated),
        Expr::Exists { subquery, negated } => Some(SubQuery {
            query: subquery,
            value: None,
            is_negated: is_negated != *negated,
        }),
        Expr::In {
            expr,
            target: InTarget::Subquery(query),
            negated,
            ..
        } => Some(SubQuery {
            query,
            value: Some(expr),
            is_negated: is_negated != *negated,
        }),
        _ => None,
    }
}

/// A sub-query that is FROM and WHERE alone, for which a match can be tested row by row.
fn plain_select(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let has_groups =
        !matches!(&select.group_by, GroupByExpr::Expressions(e, m) if e.is_empty() && m.is_empty());
    let has_aggregates = select.projection.iter().any(|item| match item {
        SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
            matches!(e, Expr::Function(f) if aquifer_functions::aggregate::find_aggregate(&f.name.to_string()).is_ok())
        }
        _ => false,
    });
    let is_plain = query.with.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && !has_groups
        && !has_aggregates;
    is_plain.then_some(select)
}

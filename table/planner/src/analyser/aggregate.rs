//! GROUP BY, aggregates and HAVING.
//!
//! Expressions over a grouped query are first resolved as if there were no grouping, with each
//! aggregate as a further column. Then every part that equals a grouping expression becomes a
//! column of the aggregation, and a column that is left over is an error.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{
    AggregateCall, AggregateQuery, ProjectQuery, QueryOperation,
};
use aquifer_table_common::{Result, ValidationErrorKind};
use aquifer_types::{DataType, Field};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::scope::Scope;

/// An aggregate as it stands in an expression, its arguments over the columns in reach.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PendingAggregate {
    pub(super) function: String,
    pub(super) arguments: Vec<ResolvedExpr>,
    pub(super) distinct: bool,
    pub(super) filter: Option<ResolvedExpr>,
    pub(super) data_type: DataType,
}

/// An aggregation and the way from expressions over its input to its output.
pub(super) struct Grouped {
    pub(super) operation: QueryOperation,
    grouping: Vec<ResolvedExpr>,
    /// The number of columns of the input.
    width: usize,
}

impl Grouped {
    /// Groups `input` by expressions over it and computes aggregates over it.
    pub(super) fn new(
        input: Arc<QueryOperation>,
        scope: &Scope,
        grouping: Vec<ResolvedExpr>,
        aggregates: &[PendingAggregate],
    ) -> Self {
        let names = scope.column_names();
        let mut columns = Columns {
            expressions: Vec::new(),
            fields: Vec::new(),
            names: &names,
        };
        let mut distinct_grouping: Vec<ResolvedExpr> = Vec::new();
        for expression in grouping {
            if !distinct_grouping.contains(&expression) {
                distinct_grouping.push(expression);
            }
        }
        let keys: Vec<usize> = distinct_grouping.iter().map(|e| columns.add(e)).collect();
        let mut calls = Vec::with_capacity(aggregates.len());
        for (index, aggregate) in aggregates.iter().enumerate() {
            let arguments = aggregate.arguments.iter().map(|e| columns.add(e)).collect();
            let filter = aggregate.filter.as_ref().map(|e| columns.add(e));
            // Over all rows of an input that may be empty, only COUNT is never NULL; the type layer
            // says so by the function's own rule.
            calls.push(AggregateCall {
                function: aggregate.function.clone(),
                arguments,
                distinct: aggregate.distinct,
                filter,
                field: Field::new(format!("EXPR${index}"), aggregate.data_type.clone()),
            });
        }
        let mut fields: Vec<Field> = keys.iter().map(|k| columns.fields[*k].clone()).collect();
        fields.extend(calls.iter().map(|c| c.field.clone()));
        let (expressions, input_fields) = (columns.expressions, columns.fields);
        let projected = QueryOperation::Project(ProjectQuery {
            expressions,
            fields: input_fields,
            input,
        });
        let operation = QueryOperation::Aggregate(AggregateQuery {
            grouping: keys,
            aggregates: calls,
            fields,
            input: Arc::new(projected),
        });
        Grouped {
            operation,
            grouping: distinct_grouping,
            width: scope.width(),
        }
    }

    /// An expression over the input and the aggregates as one over the aggregation's output.
    pub(super) fn rewrite(
        &self,
        analyser: &Analyser<'_>,
        scope: &Scope,
        places: &BTreeMap<usize, Span>,
        expression: &ResolvedExpr,
    ) -> Result<ResolvedExpr> {
        let mut stray = None;
        let rewritten = self.replace(expression, &mut stray);
        match stray {
            None => Ok(rewritten),
            Some(index) => {
                let column = scope.column_names().get(index).cloned().unwrap_or_default();
                let span = places.get(&index).copied().unwrap_or_else(Span::empty);
                Err(analyser.invalid(ValidationErrorKind::NotGrouped { column }, span))
            }
        }
    }

    fn replace(&self, expression: &ResolvedExpr, stray: &mut Option<usize>) -> ResolvedExpr {
        if let Some(index) = self.grouping.iter().position(|g| g == expression) {
            return ResolvedExpr::input(index, expression.data_type().clone());
        }
        match expression {
            ResolvedExpr::InputRef { index, data_type } if *index >= self.width => {
                ResolvedExpr::input(index - self.width + self.grouping.len(), data_type.clone())
            }
            ResolvedExpr::InputRef { index, .. } => {
                stray.get_or_insert(*index);
                expression.clone()
            }
            ResolvedExpr::Literal { .. } => expression.clone(),
            ResolvedExpr::Call {
                function,
                args,
                data_type,
            } => ResolvedExpr::Call {
                function: function.clone(),
                args: args.iter().map(|a| self.replace(a, stray)).collect(),
                data_type: data_type.clone(),
            },
            ResolvedExpr::Cast {
                expr,
                data_type,
                try_,
            } => ResolvedExpr::Cast {
                expr: Box::new(self.replace(expr, stray)),
                data_type: data_type.clone(),
                try_: *try_,
            },
            ResolvedExpr::Case {
                branches,
                otherwise,
                data_type,
            } => ResolvedExpr::Case {
                branches: branches
                    .iter()
                    .map(|(c, r)| (self.replace(c, stray), self.replace(r, stray)))
                    .collect(),
                otherwise: Box::new(self.replace(otherwise, stray)),
                data_type: data_type.clone(),
            },
        }
    }
}

/// The columns computed in front of an aggregation; equal expressions are computed once.
struct Columns<'a> {
    expressions: Vec<ResolvedExpr>,
    fields: Vec<Field>,
    names: &'a [String],
}

impl Columns<'_> {
    fn add(&mut self, expression: &ResolvedExpr) -> usize {
        if expression.is_deterministic()
            && let Some(index) = self.expressions.iter().position(|e| e == expression)
        {
            return index;
        }
        let index = self.expressions.len();
        let name = match expression.as_input().and_then(|i| self.names.get(i)) {
            Some(name) => name.clone(),
            None => format!("$f{index}"),
        };
        self.expressions.push(expression.clone());
        self.fields
            .push(Field::new(name, expression.data_type().clone()));
        index
    }
}

//! Aggregations by windows to nodes.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_operators::window::WindowProperty;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{AggregateQuery, ProjectQuery, QueryOperation};
use aquifer_types::{ChangelogMode, Field};

use super::GraphBuilder;
use crate::exec::window_aggregate::Windows;
use crate::exec::{Calc, ExecEdge, ExecNodeKind, WindowAggregate};
use crate::properties::{WindowColumns, is_append_only};

impl GraphBuilder<'_> {
    /// An aggregation by windows. Where rows only pass from the window table function to the
    /// aggregation, the aggregation assigns the windows itself.
    pub(super) fn window_aggregate(
        &mut self,
        q: &AggregateQuery,
        columns: &WindowColumns,
        fields: Vec<Field>,
        mode: ChangelogMode,
    ) -> Result<u32> {
        let (input, windows, places) = match assigned_windows(&q.input) {
            Some(assigned) => assigned,
            None => {
                let column = |of: &[usize]| q.grouping.iter().copied().find(|g| of.contains(g));
                let windows = Windows::Attached {
                    start: column(&columns.start).expect("the grouping has the window's start"),
                    end: column(&columns.end).expect("the grouping has the window's end"),
                    is_instant: columns.is_instant,
                };
                let width = q.input.fields().len();
                (q.input.clone(), windows, (0..width).map(Some).collect())
            }
        };
        let place = |column: usize| places[column].expect("only window columns have no place");
        let source = self.query(&input)?;
        let mut grouping = Vec::new();
        let mut properties = Vec::new();
        // Per grouping column its place: a grouping column of the node or a property.
        let mut outputs = Vec::new();
        for column in &q.grouping {
            let property = if columns.start.contains(column) {
                WindowProperty::Start
            } else if columns.end.contains(column) {
                WindowProperty::End
            } else if columns.time.contains(column) {
                WindowProperty::Time
            } else {
                outputs.push((false, grouping.len()));
                grouping.push(place(*column));
                continue;
            };
            let index = properties
                .iter()
                .position(|p| *p == property)
                .unwrap_or_else(|| {
                    properties.push(property);
                    properties.len() - 1
                });
            outputs.push((true, index));
        }
        let mut aggregates = q.aggregates.clone();
        for call in &mut aggregates {
            call.arguments
                .iter_mut()
                .chain(&mut call.filter)
                .for_each(|c| *c = place(*c));
        }
        // What a node gives: grouping columns, aggregates, properties.
        let calls = aggregates.len();
        let order: Vec<usize> = outputs
            .iter()
            .map(|(is_property, index)| {
                if *is_property {
                    grouping.len() + calls + index
                } else {
                    *index
                }
            })
            .chain((0..calls).map(|i| grouping.len() + i))
            .collect();
        let mut output: Vec<Option<Field>> = vec![None; grouping.len() + calls + properties.len()];
        for (field, place) in fields.iter().zip(&order) {
            output[*place] = Some(field.clone());
        }
        let output: Vec<Field> = output
            .into_iter()
            .map(|f| f.expect("every column of the node is one of the aggregation"))
            .collect();
        let edge = self.keyed(source, &grouping);
        let aggregate = WindowAggregate {
            grouping,
            aggregates,
            windows,
            properties,
            append_only_input: is_append_only(&input),
        };
        let id = self.add(
            ExecNodeKind::WindowAggregate(aggregate),
            vec![edge],
            output.clone(),
            mode,
        )?;
        if order.iter().enumerate().all(|(i, place)| i == *place) && order.len() == output.len() {
            return Ok(id);
        }
        let projection = order
            .iter()
            .map(|place| ResolvedExpr::input(*place, output[*place].data_type.clone()))
            .collect();
        let kind = ExecNodeKind::Calc(Calc {
            projection,
            condition: None,
        });
        self.add(kind, vec![ExecEdge::forward(id)], fields, mode)
    }
}

/// The input of an aggregation without its window table function, if rows only pass from there: the
/// windows to assign, and the new place of each column that is no part of the window.
fn assigned_windows(
    input: &Arc<QueryOperation>,
) -> Option<(Arc<QueryOperation>, Windows, Vec<Option<usize>>)> {
    let (project, window) = match input.as_ref() {
        QueryOperation::Window(window) => (None, window),
        QueryOperation::Project(project) => match project.input.as_ref() {
            QueryOperation::Window(window) => (Some(project), window),
            _ => return None,
        },
        _ => return None,
    };
    let width = window.input.fields().len();
    let Some(project) = project else {
        let windows = Windows::Assigned {
            window: window.window,
            column: window.column,
        };
        let places = (0..width).map(Some).chain([None; 3]).collect();
        return Some((window.input.clone(), windows, places));
    };
    let mut expressions = Vec::new();
    let mut fields = Vec::new();
    let mut places = Vec::with_capacity(project.expressions.len());
    for (expression, field) in project.expressions.iter().zip(&project.fields) {
        if expression.as_input().is_some_and(|i| i >= width) {
            places.push(None);
            continue;
        }
        if expression.inputs().last().is_some_and(|i| *i >= width) {
            return None;
        }
        places.push(Some(expressions.len()));
        expressions.push(expression.clone());
        fields.push(field.clone());
    }
    let column = match expressions
        .iter()
        .position(|e| e.as_input() == Some(window.column))
    {
        Some(column) => column,
        None => {
            let field = window.input.fields()[window.column].clone();
            expressions.push(ResolvedExpr::input(window.column, field.data_type.clone()));
            fields.push(field);
            expressions.len() - 1
        }
    };
    let input = QueryOperation::Project(ProjectQuery {
        expressions,
        fields,
        input: window.input.clone(),
    });
    Some((
        Arc::new(input),
        Windows::Assigned {
            window: window.window,
            column,
        },
        places,
    ))
}

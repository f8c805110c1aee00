//! Aggregates by windows.

use aquifer_operators::AggregateCall as OperatorCall;
use aquifer_operators::window::{
    WindowAggregateOperator, WindowAggregateParameters, WindowProperty, WindowSource, WindowTime,
};
use aquifer_runtime::{EpochOperator, OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_table_common::operation::{AggregateCall, WindowKind};
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::group_aggregate::describe_call;
use super::node::{names_at, types_of};
use super::translate::NodeContext;
use super::window_table_function::{operator_kind, window_text};

/// Gives one row per group and window when the window is complete; the output is the grouping
/// columns, the aggregates, then the window's properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowAggregate {
    /// The grouping columns besides the window.
    pub grouping: Vec<usize>,
    /// The aggregates.
    pub aggregates: Vec<AggregateCall>,
    /// Where a row's windows come from.
    pub windows: Windows,
    /// The window's properties at the end of the output.
    pub properties: Vec<WindowProperty>,
    /// Whether the input never retracts.
    pub append_only_input: bool,
}

/// Where a row's windows come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Windows {
    /// They are assigned by the aggregation, which keeps overlapping ones in shared slices.
    Assigned {
        /// The windows.
        window: WindowKind,
        /// The event-time column.
        column: usize,
    },
    /// Each row carries one.
    Attached {
        /// The column with the window's start.
        start: usize,
        /// The column with the window's end.
        end: usize,
        /// Whether windows were made of instants.
        is_instant: bool,
    },
}

impl WindowAggregate {
    pub(super) fn describe(&self, input: &[Field]) -> String {
        let mut parts = Vec::new();
        if !self.grouping.is_empty() {
            parts.push(format!("groupBy=[{}]", names_at(input, &self.grouping)));
        }
        parts.push(match &self.windows {
            Windows::Assigned { window, column } => {
                format!(
                    "window=[{}], timeCol=[{}]",
                    window_text(window),
                    names_at(input, &[*column])
                )
            }
            Windows::Attached { start, end, .. } => {
                format!(
                    "win_start=[{}], win_end=[{}]",
                    names_at(input, &[*start]),
                    names_at(input, &[*end])
                )
            }
        });
        let mut select: Vec<String> = self
            .grouping
            .iter()
            .map(|g| names_at(input, std::slice::from_ref(g)))
            .collect();
        select.extend(
            self.aggregates
                .iter()
                .map(|call| describe_call(call, input)),
        );
        select.extend(
            self.properties
                .iter()
                .map(|p| property_name(*p).to_string()),
        );
        parts.push(format!("select=[{}]", select.join(", ")));
        format!("WindowAggregate({})", parts.join(", "))
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let parameters = WindowAggregateParameters {
            types: types_of(&at.inputs[0].1.output),
            keys: self.grouping.clone(),
            calls: self
                .aggregates
                .iter()
                .map(|call| OperatorCall {
                    function: call.function.clone(),
                    arguments: call.arguments.clone(),
                    distinct: call.distinct,
                    filter: call.filter,
                })
                .collect(),
            window: match &self.windows {
                Windows::Assigned { window, column } => WindowSource::Assigned {
                    kind: operator_kind(window),
                    time: WindowTime::Rowtime(*column),
                },
                Windows::Attached {
                    start,
                    end,
                    is_instant,
                } => WindowSource::Attached {
                    start: *start,
                    end: *end,
                    is_instant: *is_instant,
                },
            },
            properties: self.properties.clone(),
            append_only: self.append_only_input,
            zone: at.context.time_zone,
        };
        WindowAggregateOperator::new(parameters.clone())?;
        let factory = std::sync::Arc::new(move || {
            let operator = WindowAggregateOperator::new(parameters.clone());
            Box::new(operator.expect("it was made when the plan was translated"))
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
}

/// The name of a window's property as a column.
pub(super) fn property_name(property: WindowProperty) -> &'static str {
    match property {
        WindowProperty::Start => "window_start",
        WindowProperty::End => "window_end",
        WindowProperty::Time => "window_time",
    }
}

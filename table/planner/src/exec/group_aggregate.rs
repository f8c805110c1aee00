//! Groups and aggregates.

use aquifer_operators::{
    AggregateCall as OperatorCall, GroupAggregateOperator, GroupAggregateParameters,
};
use aquifer_runtime::{EpochOperator, OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_table_common::operation::AggregateCall;
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::node::{names_at, types_of};
use super::translate::NodeContext;

/// Keeps one row per group; the output is the grouping columns, then the aggregates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupAggregate {
    /// The grouping columns; none is one group of all rows.
    pub grouping: Vec<usize>,
    /// The aggregates; none keeps one of equal rows.
    pub aggregates: Vec<AggregateCall>,
    /// Whether the input never retracts, so that less state is kept.
    pub append_only_input: bool,
}

impl GroupAggregate {
    pub(super) fn describe(&self, input: &[Field]) -> String {
        let keys = names_at(input, &self.grouping);
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
        let group_by = if self.grouping.is_empty() {
            String::new()
        } else {
            format!("groupBy=[{keys}], ")
        };
        format!("GroupAggregate({group_by}select=[{}])", select.join(", "))
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let parameters = GroupAggregateParameters {
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
            append_only: self.append_only_input,
        };
        GroupAggregateOperator::new(&parameters)?;
        let factory = std::sync::Arc::new(move || {
            let operator = GroupAggregateOperator::new(&parameters);
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

/// `COUNT(DISTINCT a) FILTER b AS c`.
pub(crate) fn describe_call(call: &AggregateCall, input: &[Field]) -> String {
    let arguments = if call.arguments.is_empty() {
        "*".to_string()
    } else {
        names_at(input, &call.arguments)
    };
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    let filter = call.filter.map_or(String::new(), |f| {
        format!(" FILTER {}", names_at(input, &[f]))
    });
    format!(
        "{}({distinct}{arguments}){filter} AS {}",
        call.function, call.field.name
    )
}

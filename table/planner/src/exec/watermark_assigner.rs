//! Makes watermarks.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_operators::WatermarkAssignerOperator;
use aquifer_runtime::{EpochOperator, OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::node::{expression_text, names_at};
use super::translate::NodeContext;

/// Promises event time by an expression over the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatermarkAssigner {
    /// The event-time column.
    pub column: usize,
    /// The watermark of a row.
    pub expression: ResolvedExpr,
}

impl WatermarkAssigner {
    pub(super) fn describe(&self, input: &[Field]) -> String {
        format!(
            "WatermarkAssigner(rowtime=[{}], watermark=[{}])",
            names_at(input, &[self.column]),
            expression_text(&self.expression, input)
        )
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let (zone, idle) = (at.context.time_zone, at.context.idle_timeout_ms);
        let assigner = self.clone();
        let make = move || {
            WatermarkAssignerOperator::new(assigner.column, &assigner.expression, idle, zone)
        };
        make()?;
        let factory = std::sync::Arc::new(move || {
            Box::new(make().expect("it was made when the plan was translated"))
                as Box<dyn EpochOperator>
        });
        let name = at.node.description.clone();
        let piece = Transformation::operator(name, at.edges(), vec![at.codec()], factory);
        Ok(at.add(piece.assigning_watermarks()))
    }
}

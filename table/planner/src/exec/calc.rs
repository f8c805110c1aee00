//! Projects and filters.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_operators::{Calc as CompiledCalc, CalcOperator, calc_step, needs_clock};
use aquifer_runtime::{OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::node::expression_text;
use super::translate::NodeContext;

/// Keeps the rows that meet a condition and computes columns of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calc {
    /// One expression per column.
    pub projection: Vec<ResolvedExpr>,
    /// The condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ResolvedExpr>,
}

impl Calc {
    pub(super) fn describe(&self, input: &[Field], output: &[Field]) -> String {
        let columns: Vec<String> = self
            .projection
            .iter()
            .zip(output)
            .map(|(expression, field)| {
                let text = expression_text(expression, input);
                if text == field.name {
                    text
                } else {
                    format!("{text} AS {}", field.name)
                }
            })
            .collect();
        let filter = match &self.condition {
            Some(condition) => format!(", where=[{}]", expression_text(condition, input)),
            None => String::new(),
        };
        format!("Calc(select=[{}]{filter})", columns.join(", "))
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let zone = at.context.time_zone;
        let name = at.node.description.clone();
        if needs_clock(&self.projection, self.condition.as_ref()) {
            CompiledCalc::compile(&self.projection, self.condition.as_ref())?;
            let calc = self.clone();
            let factory = std::sync::Arc::new(move || {
                let compiled = CompiledCalc::compile(&calc.projection, calc.condition.as_ref())
                    .expect("it was compiled when the plan was translated");
                Box::new(CalcOperator::new(compiled, zone))
                    as Box<dyn aquifer_runtime::EpochOperator>
            });
            return Ok(at.add(Transformation::operator(
                name,
                at.edges(),
                vec![at.codec()],
                factory,
            )));
        }
        let step = calc_step(self.projection.clone(), self.condition.clone(), zone)?;
        Ok(at.add(Transformation::step(name, at.edges(), at.codec(), step)))
    }
}

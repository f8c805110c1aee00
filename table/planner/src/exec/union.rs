//! The rows of all inputs.

use std::sync::Arc;

use aquifer_runtime::{OutputPort, Transformation};
use serde::{Deserialize, Serialize};

use super::translate::NodeContext;

/// UNION ALL: the rows of all inputs as they come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Union {}

impl Union {
    pub(super) fn translate(&self, at: &NodeContext<'_>) -> OutputPort {
        let edges = (0..at.inputs.len())
            .map(|input| at.edge(input, 0))
            .collect();
        let step = Arc::new(|_: &aquifer_runtime::OperatorContext| {
            Ok(Box::new(Ok) as aquifer_runtime::transformation::Step)
        });
        at.add(Transformation::step(
            at.node.description.clone(),
            edges,
            at.codec(),
            step,
        ))
    }
}

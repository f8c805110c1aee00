//! Adds the retractions that an upsert stream leaves out.

use aquifer_operators::ChangelogNormalizeOperator;
use aquifer_runtime::{EpochOperator, OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::node::{names_at, types_of};
use super::translate::NodeContext;

/// Keeps the latest row of each key, so that an upsert becomes a retraction and an insertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangelogNormalize {
    /// The key columns.
    pub key: Vec<usize>,
}

impl ChangelogNormalize {
    pub(super) fn describe(&self, input: &[Field]) -> String {
        format!("ChangelogNormalize(key=[{}])", names_at(input, &self.key))
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let (types, key) = (types_of(&at.node.output), self.key.clone());
        ChangelogNormalizeOperator::new(types.clone(), key.clone())?;
        let factory = std::sync::Arc::new(move || {
            let operator = ChangelogNormalizeOperator::new(types.clone(), key.clone());
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

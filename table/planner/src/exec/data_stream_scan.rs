//! Reads a data stream.

use aquifer_runtime::OutputPort;
use aquifer_table_common::{PlanError, Result};
use serde::{Deserialize, Serialize};

use super::translate::NodeContext;

/// Reads a data stream that is in the environment already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataStreamScan {
    /// A name for people.
    pub name: String,
    /// The stream's stable id, by which a loaded plan finds it.
    pub uid: Option<String>,
    /// The key columns, if the stream has a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<usize>,
}

impl DataStreamScan {
    pub(super) fn describe(&self) -> String {
        format!(
            "DataStreamScan(stream=[{}])",
            self.uid.as_ref().unwrap_or(&self.name)
        )
    }

    pub(super) fn translate(
        &self,
        _at: &NodeContext<'_>,
        port: Option<&OutputPort>,
    ) -> Result<OutputPort> {
        let uid = self.uid.clone().unwrap_or_else(|| self.name.clone());
        Ok(*port.ok_or(PlanError::UnknownStream { uid })?)
    }
}

//! Hands rows to the caller or to a data stream.

use aquifer_types::ChangelogMode;
use serde::{Deserialize, Serialize};

use super::translate::{NodeContext, Translated};

/// The end of a plan whose rows the caller takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The kinds of changes that the caller takes.
    #[serde(with = "super::mode_names")]
    pub accepts: ChangelogMode,
    /// The key by which a removed and an added row are an update.
    pub upsert_key: Option<Vec<usize>>,
}

impl Output {
    pub(super) fn describe(&self) -> String {
        format!(
            "Output(changelogMode=[{}])",
            self.accepts.to_string().trim_matches(['[', ']'])
        )
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Translated {
        Translated::Output {
            port: at.inputs[0].0,
            fields: at.node.output.clone(),
            changelog_mode: self.accepts,
            upsert_key: self.upsert_key.clone(),
        }
    }
}

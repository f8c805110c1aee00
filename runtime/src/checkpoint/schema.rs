//! What a stored state is: how its records find their worker, and how they are encoded.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::operator::StateKind;

/// Kind and encoding of a state. Stored state fits an operator when both are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateSchema {
    /// How records find their worker.
    pub kind: StateKind,
    /// Key type, value type and version of the encoding, in words for people to compare.
    pub encoding: String,
}

impl StateSchema {
    /// A state whose records belong to keys.
    pub fn keyed(encoding: impl Into<String>) -> Self {
        Self {
            kind: StateKind::Keyed,
            encoding: encoding.into(),
        }
    }

    /// A state whose records go to every instance.
    pub fn list(encoding: impl Into<String>) -> Self {
        Self {
            kind: StateKind::List,
            encoding: encoding.into(),
        }
    }
}

impl fmt::Display for StateSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            StateKind::Keyed => "keyed",
            StateKind::List => "list",
        };
        write!(f, "{kind} state of `{}`", self.encoding)
    }
}

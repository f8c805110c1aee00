//! What can go wrong with keyed state.

use thiserror::Error;

use crate::error::error_codes;

/// Why a state cannot be registered or restored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// Two states of one operator have the same name.
    #[error(
        "state '{state}' is registered twice in operator '{uid}'; state names are unique in an operator"
    )]
    Duplicate {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
    },
    /// A function asks for keyed state where there is no key.
    #[error(
        "state '{state}' needs a key: operator '{uid}' does not run on a keyed stream; use key_by before it"
    )]
    NotKeyed {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
    },
    /// Stored and expected types differ.
    #[error(
        "state '{state}' of operator '{uid}' is stored as {stored}, the job expects {expected}"
    )]
    Schema {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
        /// What is stored.
        stored: String,
        /// What the job expects.
        expected: String,
    },
    /// State cannot be written.
    #[error("state '{state}' cannot be encoded: {reason}")]
    Encode {
        /// Name of the state.
        state: String,
        /// Why not.
        reason: String,
    },
    /// State cannot be read back.
    #[error("state '{state}' of operator '{uid}' cannot be decoded as {expected}: {reason}")]
    Decode {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
        /// The type that was expected.
        expected: String,
        /// Why not.
        reason: String,
    },
}

error_codes!(StateError {
    Duplicate => "state.duplicate",
    NotKeyed => "state.not_keyed",
    Schema => "state.schema",
    Encode => "state.encode",
    Decode => "state.decode",
});

impl StateError {
    pub(crate) fn decode(uid: &str, state: &str, expected: String, error: impl ToString) -> Self {
        let (uid, state) = (uid.to_string(), state.to_string());
        StateError::Decode {
            uid,
            state,
            expected,
            reason: error.to_string(),
        }
    }

    pub(crate) fn encode(state: &str, error: impl ToString) -> Self {
        StateError::Encode {
            state: state.to_string(),
            reason: error.to_string(),
        }
    }

    /// Refuses a state that was `stored` with another schema than `expected`.
    pub(crate) fn check_schema(
        uid: &str,
        state: &str,
        stored: Option<&str>,
        expected: String,
    ) -> Result<(), StateError> {
        match stored {
            Some(stored) if stored != expected => {
                let (uid, state, stored) = (uid.to_string(), state.to_string(), stored.to_string());
                Err(StateError::Schema {
                    uid,
                    state,
                    stored,
                    expected,
                })
            }
            _ => Ok(()),
        }
    }
}

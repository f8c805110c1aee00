//! How the state of connectors is written: JSON, so that it can be read by eye and grow by fields.

use aquifer_runtime::error::Result;
use aquifer_runtime::{Restore, RuntimeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The record of a state.
pub(crate) fn to_record<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| {
        RuntimeError::internal(format!("cannot write a connector's state: {error}"))
    })
}

/// All records of the list state `name`, those of all instances.
pub(crate) fn read_records<T: DeserializeOwned>(state: &Restore, name: &str) -> Result<Vec<T>> {
    let read = |record: &Vec<u8>| {
        serde_json::from_slice(record)
            .map_err(|error| RuntimeError::user(format!("cannot read the state '{name}': {error}")))
    };
    state.list(name)?.iter().map(read).collect()
}

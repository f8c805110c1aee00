//! `values`: rows that the program registers, and results that it reads back. For tests.
//!
//! A source names registered rows by the option `data-id`; each inner list is one epoch, so a test
//! decides where epochs end. A sink names its results by the option `sink-id`: the changes in the
//! order of epochs, and the rows they leave. Rows and results live in the process; results of
//! several processes are not joined.
//!
//! After a restart a source goes on at its epoch, and the results that a sink had after the
//! checkpoint are taken back, so results show each row once.

mod factory;
mod results;
mod sink;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_types::Row;
use parking_lot::Mutex;

pub use factory::ValuesFactory;
pub use results::ValuesResult;

/// Epochs of rows.
pub(crate) type Epochs = Arc<Vec<Vec<Row>>>;

static DATA: Mutex<BTreeMap<String, Epochs>> = Mutex::new(BTreeMap::new());
static RESULTS: Mutex<BTreeMap<String, ValuesResult>> = Mutex::new(BTreeMap::new());

/// Registers rows under `id`, in place of those of before; all of them are one epoch.
pub fn register_data(id: impl Into<String>, rows: Vec<Row>) {
    register_epochs(id, vec![rows]);
}

/// Registers rows under `id`, in place of those of before; each inner list is one epoch.
pub fn register_epochs(id: impl Into<String>, epochs: Vec<Vec<Row>>) {
    DATA.lock().insert(id.into(), Arc::new(epochs));
}

/// What the sinks with this `sink-id` have got; nothing if there was none.
pub fn result(id: &str) -> ValuesResult {
    RESULTS.lock().get(id).cloned().unwrap_or_default()
}

/// Forgets what the sinks with this `sink-id` have got.
pub fn clear_result(id: &str) {
    RESULTS.lock().remove(id);
}

pub(crate) fn data(id: &str) -> Option<Epochs> {
    DATA.lock().get(id).cloned()
}

pub(crate) fn data_ids() -> Vec<String> {
    DATA.lock().keys().cloned().collect()
}

pub(crate) fn update_result(id: &str, update: impl FnOnce(&mut ValuesResult)) {
    update(RESULTS.lock().entry(id.to_string()).or_default());
}

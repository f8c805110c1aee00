//! SET and RESET.

use aquifer_table_common::Result;
use aquifer_table_common::options::is_secret;
use aquifer_types::{DataTypes, Field, Row, Value};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

pub(super) fn set(env: &TableEnvironment, key: &str, value: &str) -> Result<TableResult> {
    env.config().set(key, value)?;
    Ok(TableResult::ok())
}

pub(super) fn reset(env: &TableEnvironment, key: Option<&str>) -> TableResult {
    match key {
        Some(key) => env.config().reset(key),
        None => env.config().reset_all(),
    }
    TableResult::ok()
}

/// All options that are set; secrets are masked.
pub(super) fn list(env: &TableEnvironment) -> TableResult {
    let text = || DataTypes::string().not_null();
    let fields = vec![Field::new("key", text()), Field::new("value", text())];
    let rows = env.config().to_map().into_iter().map(|(key, value)| {
        let value = if is_secret(&key) {
            "******".to_string()
        } else {
            value
        };
        Row::of(vec![Value::from(key), Value::from(value)])
    });
    TableResult::of_rows(fields, rows.collect())
}

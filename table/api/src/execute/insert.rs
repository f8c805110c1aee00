//! INSERT, alone or between `BEGIN STATEMENT SET` and `END`.

use aquifer_table_common::operation::ModifyOperation;
use aquifer_table_common::{Result, ValidationErrorKind};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

pub(super) fn insert(env: &TableEnvironment, insert: ModifyOperation) -> Result<TableResult> {
    if let Some(set) = env.inner.open_set.lock().as_mut() {
        set.push(insert);
        return Ok(TableResult::ok());
    }
    env.execute_inserts(&[insert])
}

pub(super) fn begin(env: &TableEnvironment) -> Result<TableResult> {
    let mut open = env.inner.open_set.lock();
    if open.is_some() {
        return Err(wrong("a statement set is open already", "End it with END."));
    }
    *open = Some(Vec::new());
    Ok(TableResult::ok())
}

pub(super) fn end(env: &TableEnvironment) -> Result<TableResult> {
    let inserts = env.inner.open_set.lock().take();
    match inserts {
        Some(inserts) => env.execute_inserts(&inserts),
        None => Err(wrong(
            "no statement set is open",
            "Begin one with BEGIN STATEMENT SET.",
        )),
    }
}

fn wrong(message: &str, hint: &str) -> aquifer_table_common::TableError {
    ValidationErrorKind::InvalidClause {
        message: message.to_string(),
        hint: Some(hint.to_string()),
    }
    .into()
}

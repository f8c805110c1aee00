//! One analysed statement to its result; one file per family of statements.

mod definition;
mod insert;
mod options;
mod show;

use aquifer_table_common::Result;
use aquifer_table_common::operation::{ExplainFormat, ModifyOperation, Operation};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

/// Executes a statement.
///
/// # Errors
/// What the statement finds wrong.
pub(crate) fn execute(env: &TableEnvironment, operation: Operation) -> Result<TableResult> {
    match operation {
        Operation::Query(query) | Operation::Modify(ModifyOperation::Collect { child: query }) => {
            env.execute_query(&query)
        }
        Operation::Modify(insert) => insert::insert(env, insert),
        Operation::StatementSet(inserts) => env.execute_inserts(&inserts),
        Operation::BeginStatementSet => insert::begin(env),
        Operation::EndStatementSet => insert::end(env),
        Operation::Create(create) => definition::create(env, create),
        Operation::Drop(drop) => definition::drop(env, &drop),
        Operation::Explain(explain) => {
            let text =
                env.explain_operations(&explain.operations, ExplainFormat::Text, &explain.details)?;
            Ok(TableResult::of_text(text))
        }
        Operation::Show(show) => show::show(env, show),
        Operation::Describe { identifier } => show::describe(env, &identifier),
        Operation::Set(None) => Ok(options::list(env)),
        Operation::Set(Some((key, value))) => options::set(env, &key, &value),
        Operation::Reset(key) => Ok(options::reset(env, key.as_deref())),
        Operation::Use(target) => definition::use_(env, &target),
    }
}

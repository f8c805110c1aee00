//! From operations to jobs.

use std::sync::Arc;

use aquifer_planner::{TranslateContext, Translated};
use aquifer_runtime::TransformationId;
use aquifer_runtime::config::options::PIPELINE_NAME;
use aquifer_table_common::operation::{ModifyOperation, QueryOperation};
use aquifer_table_common::{Result, ValidationErrorKind};

use super::TableEnvironment;
use crate::bridge::output::Changes;
use crate::options::{SOURCE_IDLE_TIMEOUT, TABLE_DML_SYNC};
use crate::table_result::TableResult;

impl TableEnvironment {
    /// Adds the pieces of operations that run as one job to the stream environment.
    pub(crate) fn translate(&self, operations: &[ModifyOperation]) -> Result<Vec<Translated>> {
        let inner = &self.inner;
        let idle = inner.config.get(&SOURCE_IDLE_TIMEOUT)?;
        let factories = inner.factories.read().clone();
        let context = TranslateContext {
            environment: &inner.environment,
            factories: &factories,
            time_zone: inner.config.local_time_zone()?,
            idle_timeout_ms: (!idle.is_zero())
                .then(|| i64::try_from(idle.as_millis()).unwrap_or(i64::MAX)),
        };
        inner.planner.translate(operations, &context)
    }

    /// Runs a query as a job of its own.
    pub(crate) fn execute_query(&self, query: &Arc<QueryOperation>) -> Result<TableResult> {
        let operation = ModifyOperation::Collect {
            child: Arc::clone(query),
        };
        let translated = self.translate(std::slice::from_ref(&operation))?;
        let rows = Changes::of(translated.into_iter().next())?.rows(&self.inner.environment);
        let rows = rows.collect_alone(&self.job_name("collect")?)?;
        Ok(TableResult::of_query(query.fields(), rows))
    }

    /// Runs inserts as one job.
    pub(crate) fn execute_inserts(&self, inserts: &[ModifyOperation]) -> Result<TableResult> {
        let (sinks, tables) = self.translate_inserts(inserts)?;
        let name = self.job_name(&format!("insert-into_{}", tables.join(",")))?;
        let client = self.inner.environment.execute_sinks_async(&name, &sinks)?;
        let result = TableResult::of_inserts(tables, client);
        if self.inner.config.get(&TABLE_DML_SYNC)? {
            result.await_done()?;
        }
        Ok(result)
    }

    /// Makes inserts part of the stream environment's next job.
    pub(crate) fn attach_inserts(&self, inserts: &[ModifyOperation]) -> Result<()> {
        let (sinks, _) = self.translate_inserts(inserts)?;
        self.inner.environment.attach_sinks(sinks);
        Ok(())
    }

    fn translate_inserts(
        &self,
        inserts: &[ModifyOperation],
    ) -> Result<(Vec<TransformationId>, Vec<String>)> {
        if inserts.is_empty() {
            return Err(ValidationErrorKind::WrongStatement {
                expected: "at least one INSERT".to_string(),
                found: "an empty statement set".to_string(),
            }
            .into());
        }
        let mut sinks = Vec::new();
        let mut tables = Vec::new();
        for translated in self.translate(inserts)? {
            if let Translated::Sink { transformation, .. } = translated {
                sinks.push(transformation);
            }
        }
        for insert in inserts {
            if let ModifyOperation::Sink { table, .. } = insert {
                tables.push(table.table.identifier.to_summary_string());
            }
        }
        Ok((sinks, tables))
    }

    fn job_name(&self, default: &str) -> Result<String> {
        Ok(self
            .inner
            .config
            .get(&PIPELINE_NAME)?
            .unwrap_or_else(|| default.to_string()))
    }
}

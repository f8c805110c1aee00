//! Writes a table.

use std::sync::Arc;

use aquifer_runtime::{Batch, OperatorContext, OutputPort, RuntimeError, Transformation};
use aquifer_table_common::connector::{FactoryContext, SinkContext};
use aquifer_table_common::operation::ResolvedTable;
use aquifer_table_common::{Result, ValidationErrorKind};
use aquifer_types::ChangeBatch;
use arrow_array::Array;
use serde::{Deserialize, Serialize};

use super::node::names_at;
use super::translate::{NodeContext, Translated};

/// Writes rows by a table's connector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sink {
    /// The table.
    pub table: ResolvedTable,
    /// The key by which changes are updates of one row; empty without one.
    pub key: Vec<usize>,
    /// Columns that must not be NULL although the query's may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_null: Vec<usize>,
    /// Why the query produces updates, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_cause: Option<String>,
}

impl Sink {
    pub(super) fn describe(&self) -> String {
        let fields = self.table.schema.sink_fields();
        let all: Vec<usize> = (0..fields.len()).collect();
        let id = &self.table.identifier;
        let key = if self.key.is_empty() {
            String::new()
        } else {
            format!(", key=[{}]", names_at(&fields, &self.key))
        };
        format!(
            "Sink(table=[{}], fields=[{}]{key})",
            id.to_summary_string(),
            names_at(&fields, &all)
        )
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<Translated> {
        let context = FactoryContext {
            identifier: &self.table.identifier,
            schema: &self.table.schema,
            options: &self.table.options,
            partition_keys: &self.table.partition_keys,
            registry: at.context.factories,
        };
        let sink = at.context.factories.create_sink(&context)?;
        let produced = at.node.changelog_mode;
        let accepted = sink.changelog_mode(&produced);
        if accepted.is_insert_only() && !produced.is_insert_only() {
            return Err(ValidationErrorKind::UpdatesNotAccepted {
                target: format!("sink {}", self.table.identifier),
                accepted: accepted.to_string(),
                produced: produced.to_string(),
                cause: self.update_cause.clone().unwrap_or_default(),
            }
            .into());
        }
        let fields = self.table.schema.sink_fields();
        let provider = sink.create(&SinkContext {
            table: self.table.identifier.to_summary_string(),
            fields: fields.clone(),
            key: self.key.clone(),
            changelog_mode: accepted,
        })?;
        let mut edges = at.edges();
        if !self.not_null.is_empty() {
            let columns = self
                .not_null
                .iter()
                .map(|c| (*c, fields[*c].name.clone()))
                .collect();
            let checked = not_null_step(self.table.identifier.to_string(), columns);
            let name = format!(
                "NotNullEnforcer(fields=[{}])",
                names_at(&fields, &self.not_null)
            );
            let forward = vec![aquifer_runtime::Edge::forward(at.inputs[0].0)];
            let piece = Transformation::step(name, forward, at.codec(), checked)
                .with_uid(format!("{}_not-null-enforcer", at.node.uid()));
            let port = OutputPort {
                transformation: at.context.environment.add(piece),
                port: 0,
            };
            edges[0].from = port;
        }
        let mut piece = Transformation::operator(
            at.node.description.clone(),
            edges,
            Vec::new(),
            provider.factory,
        )
        .with_uid(at.node.uid());
        piece.parallelism = provider.parallelism;
        let transformation = at.context.environment.add_sink(piece);
        Ok(Translated::Sink {
            transformation,
            table: self.table.identifier.to_summary_string(),
        })
    }
}

/// Fails the job when one of the columns has a NULL.
fn not_null_step(
    table: String,
    columns: Vec<(usize, String)>,
) -> aquifer_runtime::transformation::StepFactory {
    Arc::new(move |_: &OperatorContext| {
        let (table, columns) = (table.clone(), columns.clone());
        Ok(Box::new(move |batch: Batch| {
            let rows = batch.into_data::<ChangeBatch>()?;
            for (column, name) in &columns {
                if rows.column(*column).null_count() > 0 {
                    return Err(RuntimeError::user(format!(
                        "column '{name}' of table {table} is NOT NULL, but a NULL is written to it; filter such rows \
                         or use COALESCE"
                    )));
                }
            }
            Ok(rows.into())
        }))
    })
}

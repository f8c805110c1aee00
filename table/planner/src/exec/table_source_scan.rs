//! Reads a table.

use aquifer_runtime::{OutputPort, Transformation};
use aquifer_table_common::connector::{FactoryContext, ScanColumn, ScanColumnKind, ScanContext};
use aquifer_table_common::operation::ResolvedTable;
use aquifer_table_common::{ColumnKind, Result};
use serde::{Deserialize, Serialize};

use super::node::names_at;
use super::translate::NodeContext;

/// Reads columns of a table by its connector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSourceScan {
    /// The table.
    pub table: ResolvedTable,
    /// Which of its physical and metadata columns are read.
    pub columns: Vec<usize>,
}

impl TableSourceScan {
    pub(super) fn describe(&self) -> String {
        let fields = self.table.schema.source_fields();
        let id = &self.table.identifier;
        format!(
            "TableSourceScan(table=[[{}, {}, {}]], fields=[{}])",
            id.catalog,
            id.database,
            id.object,
            names_at(&fields, &self.columns)
        )
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let context = FactoryContext {
            identifier: &self.table.identifier,
            schema: &self.table.schema,
            options: &self.table.options,
            partition_keys: &self.table.partition_keys,
            registry: at.context.factories,
        };
        let source = at.context.factories.create_source(&context)?;
        let provider = source.scan(&self.scan_context())?;
        let mut piece = Transformation::source(
            at.node.description.clone(),
            source.boundedness(),
            at.codec(),
            provider.factory,
        );
        // A source promises nothing about event time until its input ends; that promise is what lets
        // watermark assigners complete the last windows.
        piece.parallelism = provider.parallelism;
        Ok(at.add(piece))
    }

    fn scan_context(&self) -> ScanContext {
        let mut physical = 0;
        let mut all = Vec::new();
        for column in &self.table.schema.columns {
            let kind = match &column.kind {
                ColumnKind::Physical => {
                    physical += 1;
                    ScanColumnKind::Physical(physical - 1)
                }
                ColumnKind::Metadata { key, .. } => ScanColumnKind::Metadata(key.clone()),
                ColumnKind::Computed(_) => continue,
            };
            all.push(ScanColumn {
                name: column.name.clone(),
                data_type: column.data_type.clone(),
                kind,
            });
        }
        let columns = self.columns.iter().map(|c| all[*c].clone()).collect();
        ScanContext {
            table: self.table.identifier.to_summary_string(),
            columns,
        }
    }
}

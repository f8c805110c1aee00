//! Rows written in the query.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_functions::{EvalContext, Evaluator};
use aquifer_runtime::{
    BATCH_ROWS, Boundedness, OperatorContext, Output, OutputPort, Restore, RuntimeError, Snapshot,
    SourceReader, SourceStatus, Transformation,
};
use aquifer_table_common::Result;
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType};
use serde::{Deserialize, Serialize};

use super::node::types_of;
use super::translate::NodeContext;

/// A bounded source of constant rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// One list of expressions without columns per row.
    pub rows: Vec<Vec<ResolvedExpr>>,
}

impl Values {
    pub(super) fn describe(&self) -> String {
        let row = |row: &Vec<ResolvedExpr>| {
            let values: Vec<String> = row.iter().map(ToString::to_string).collect();
            format!("{{ {} }}", values.join(", "))
        };
        let shown: Vec<String> = self.rows.iter().take(5).map(row).collect();
        let more = if self.rows.len() > 5 {
            format!(", ... {} rows", self.rows.len())
        } else {
            String::new()
        };
        format!("Values(tuples=[[{}{more}]])", shown.join(", "))
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let types = types_of(&at.node.output);
        let zone = at.context.time_zone;
        for row in &self.rows {
            Evaluator::compile_many(row)?;
        }
        let rows = Arc::new(self.rows.clone());
        let factory = Arc::new(move || {
            Box::new(ValuesReader {
                rows: rows.clone(),
                types: types.clone(),
                zone,
                next: 0,
            }) as Box<dyn SourceReader>
        });
        let name = at.node.description.clone();
        let piece = Transformation::source(name, Boundedness::Bounded, at.codec(), factory)
            .with_parallelism(1);
        Ok(at.add(piece))
    }
}

const STATE: &str = "next-row";

struct ValuesReader {
    rows: Arc<Vec<Vec<ResolvedExpr>>>,
    types: Vec<DataType>,
    zone: TimeZone,
    /// The first row that was not emitted.
    next: usize,
}

impl SourceReader for ValuesReader {
    fn open(&mut self, context: &OperatorContext) -> aquifer_runtime::Result<()> {
        if context.worker > 0 {
            self.next = self.rows.len();
        }
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> aquifer_runtime::Result<()> {
        for bytes in state.list(STATE)? {
            let bytes: [u8; 8] = bytes.try_into().map_err(|_| {
                RuntimeError::internal("the position in VALUES does not have eight bytes")
            })?;
            let next = usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX);
            self.next = self.next.max(next);
        }
        Ok(())
    }

    fn poll(
        &mut self,
        output: &mut Output,
        max_rows: usize,
    ) -> aquifer_runtime::Result<SourceStatus> {
        let end = self
            .rows
            .len()
            .min(self.next + max_rows.clamp(1, BATCH_ROWS));
        if self.next < end {
            let context = EvalContext {
                epoch_time_ms: output.processing_time(),
                time_zone: self.zone,
            };
            let mut batches = Vec::with_capacity(end - self.next);
            for row in &self.rows[self.next..end] {
                let failed = |e: aquifer_functions::FunctionError| RuntimeError::user(e);
                let columns = Evaluator::compile_many(row)
                    .and_then(|e| e.evaluate_many(&[], 1, &context))
                    .map_err(failed)?;
                batches.push(ChangeBatch::new(columns, None, 1).map_err(RuntimeError::internal)?);
            }
            self.next = end;
            let batch = if self.types.is_empty() {
                ChangeBatch::new(Vec::new(), None, batches.len())
            } else {
                ChangeBatch::concat(&batches)
            };
            output.emit(0, batch.map_err(RuntimeError::internal)?);
        }
        Ok(if self.next == self.rows.len() {
            SourceStatus::Finished
        } else {
            SourceStatus::Ready
        })
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> aquifer_runtime::Result<()> {
        snapshot.list(
            STATE,
            "u64",
            vec![(self.next as u64).to_le_bytes().to_vec()],
        );
        Ok(())
    }
}

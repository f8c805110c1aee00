//! Collects changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_operators::ChangesToRows;
use aquifer_runtime::error::Result;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_table_common::connector::{DynamicTableSink, SinkContext, SinkProvider};
use aquifer_types::{ChangeBatch, ChangelogMode};

use crate::position::{read_records, to_record};
use crate::print::changes_to_rows;

const ENTRIES: &str = "entries";

pub(super) struct ValuesSink {
    pub(super) id: String,
    pub(super) changelog_mode: Option<ChangelogMode>,
}

impl DynamicTableSink for ValuesSink {
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode {
        self.changelog_mode.unwrap_or(*requested)
    }

    fn summary(&self) -> String {
        format!("Values({})", self.id)
    }

    fn create(&self, context: &SinkContext) -> aquifer_table_common::Result<SinkProvider> {
        let (id, context) = (self.id.clone(), context.clone());
        Ok(SinkProvider::new(Arc::new(move || {
            Box::new(ValuesOperator {
                id: id.clone(),
                key: context.key.clone(),
                changes: changes_to_rows(&context),
                attempt: 0,
                worker: 0,
                parallelism: 1,
            })
        })))
    }
}

pub(super) struct ValuesOperator {
    id: String,
    key: Vec<usize>,
    changes: ChangesToRows,
    attempt: u32,
    worker: usize,
    parallelism: usize,
}

impl EpochOperator for ValuesOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.worker = context.worker;
        self.parallelism = context.parallelism;
        super::update_result(&self.id, |result| result.set_key(&self.key));
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let mut kept = BTreeMap::new();
        for (worker, entries, attempt) in read_records::<(usize, usize, u32)>(state, ENTRIES)? {
            kept.insert(worker, entries);
            self.attempt = self.attempt.max(attempt + 1);
        }
        let (worker, parallelism) = (self.worker, self.parallelism);
        super::update_result(&self.id, |result| {
            result.roll_back(|of| of % parallelism == worker, &kept);
        });
        Ok(())
    }

    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        self.changes.push(batch.into_data::<ChangeBatch>()?);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        if !self.changes.is_empty() {
            let rows = self.changes.finish()?;
            // Changes may cancel each other out.
            if !rows.is_empty() {
                let (attempt, epoch, worker) = (self.attempt, output.epoch(), self.worker);
                super::update_result(&self.id, |result| result.push(attempt, epoch, worker, rows));
            }
        }
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let entries = super::result(&self.id).entries_of(self.worker);
        let record = to_record(&(self.worker, entries, self.attempt))?;
        snapshot.list(
            ENTRIES,
            "worker, number of entries, attempt; JSON",
            vec![record],
        );
        Ok(())
    }
}

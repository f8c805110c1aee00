//! Reads registered rows, epoch by epoch.

use std::sync::Arc;
use std::time::Duration;

use aquifer_runtime::error::Result;
use aquifer_runtime::{
    BATCH_ROWS, Boundedness, Output, Restore, RuntimeError, Snapshot, SourceReader, SourceStatus,
};
use aquifer_table_common::connector::{DynamicTableSource, ScanContext, ScanProvider};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType};

use super::Epochs;
use crate::position::{read_records, to_record};

/// How often a source without an end is looked at after its last row.
const IDLE: Duration = Duration::from_secs(60);

const POSITION: &str = "position";

pub(super) struct ValuesSource {
    pub(super) id: String,
    pub(super) epochs: Epochs,
    pub(super) types: Vec<DataType>,
    pub(super) changelog_mode: ChangelogMode,
    pub(super) is_bounded: bool,
}

impl DynamicTableSource for ValuesSource {
    fn changelog_mode(&self) -> ChangelogMode {
        self.changelog_mode
    }

    fn boundedness(&self) -> Boundedness {
        if self.is_bounded {
            Boundedness::Bounded
        } else {
            Boundedness::Unbounded
        }
    }

    fn summary(&self) -> String {
        format!("Values({})", self.id)
    }

    fn scan(&self, context: &ScanContext) -> aquifer_table_common::Result<ScanProvider> {
        let columns = context.physical_columns();
        let batch = |rows: &[aquifer_types::Row]| {
            let batch = ChangeBatch::from_rows(rows, &self.types)?;
            Ok(batch.project(&columns))
        };
        let mut epochs = Vec::with_capacity(self.epochs.len());
        for rows in self.epochs.iter() {
            let batches = rows.chunks(BATCH_ROWS).map(batch);
            epochs.push(batches.collect::<aquifer_types::Result<Vec<ChangeBatch>>>()?);
        }
        let (epochs, is_bounded) = (Arc::new(epochs), self.is_bounded);
        let provider = ScanProvider::new(Arc::new(move || {
            Box::new(ValuesReader {
                epochs: Arc::clone(&epochs),
                is_bounded,
                next: 0,
            })
        }));
        Ok(provider.with_parallelism(1))
    }
}

pub(super) struct ValuesReader {
    epochs: Arc<Vec<Vec<ChangeBatch>>>,
    is_bounded: bool,
    next: usize,
}

impl SourceReader for ValuesReader {
    fn restore(&mut self, state: &Restore) -> Result<()> {
        for next in read_records::<usize>(state, POSITION)? {
            if next > self.epochs.len() {
                let registered = self.epochs.len();
                return Err(RuntimeError::user(format!(
                    "the state is at epoch {next} of the registered rows, which have {registered}"
                )));
            }
            self.next = next;
        }
        Ok(())
    }

    fn closes_epochs(&self) -> bool {
        // After the last row of a source without an end, epochs close by time, so the job can stop.
        self.next < self.epochs.len() || self.is_bounded
    }

    fn poll(&mut self, output: &mut Output, _max_rows: usize) -> Result<SourceStatus> {
        let Some(batches) = self.epochs.get(self.next) else {
            return Ok(if self.is_bounded {
                SourceStatus::Finished
            } else {
                SourceStatus::Waiting(IDLE)
            });
        };
        self.next += 1;
        for batch in batches {
            output.emit(0, batch.clone());
        }
        Ok(SourceStatus::EndOfEpoch)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(POSITION, "epoch number, JSON", vec![to_record(&self.next)?]);
        Ok(())
    }
}

//! Makes rows at a rate.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aquifer_runtime::error::Result;
use aquifer_runtime::{
    Boundedness, OperatorContext, Output, Restore, RuntimeError, Snapshot, SourceReader,
    SourceStatus,
};
use aquifer_table_common::connector::{DynamicTableSource, ScanContext, ScanProvider};
use aquifer_types::{ChangeBatch, ChangelogMode};

use super::field::FieldGenerator;
use crate::position::{read_records, to_record};

/// How many parts row numbers are dealt out to: shard s makes the rows s, s + SHARDS, ...
const SHARDS: u64 = 64;
/// Rows of one batch.
const BATCH_ROWS: u64 = 4096;
/// The least time between two polls of a source that waits for its rate.
const MIN_WAIT: Duration = Duration::from_millis(1);

const POSITIONS: &str = "shard positions";

pub(super) struct DatagenSource {
    pub(super) fields: Arc<Vec<FieldGenerator>>,
    /// The number of rows, if it has an end.
    pub(super) rows: Option<u64>,
    pub(super) rows_per_second: u64,
    pub(super) parallelism: Option<usize>,
}

impl DynamicTableSource for DatagenSource {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn boundedness(&self) -> Boundedness {
        match self.rows {
            Some(_) => Boundedness::Bounded,
            None => Boundedness::Unbounded,
        }
    }

    fn summary(&self) -> String {
        "Datagen".to_string()
    }

    fn scan(&self, context: &ScanContext) -> aquifer_table_common::Result<ScanProvider> {
        let columns = context.physical_columns();
        let fields: Vec<FieldGenerator> = columns.iter().map(|c| self.fields[*c].clone()).collect();
        let plan = Arc::new(fields);
        let (rows, rate) = (self.rows, self.rows_per_second as f64);
        let mut provider = ScanProvider::new(Arc::new(move || {
            Box::new(DatagenReader::new(Arc::clone(&plan), rows, rate))
        }));
        provider.parallelism = self.parallelism;
        Ok(provider)
    }
}

pub(super) struct DatagenReader {
    fields: Arc<Vec<FieldGenerator>>,
    end: u64,
    /// Rows per second of all workers together.
    rate: f64,
    /// Of each shard of this worker: its next row.
    shards: BTreeMap<u64, u64>,
    worker: usize,
    parallelism: usize,
    started: Option<Instant>,
    /// Rows made since then.
    made: u64,
}

impl DatagenReader {
    pub(super) fn new(fields: Arc<Vec<FieldGenerator>>, rows: Option<u64>, rate: f64) -> Self {
        DatagenReader {
            fields,
            end: rows.unwrap_or(u64::MAX),
            rate,
            shards: BTreeMap::new(),
            worker: 0,
            parallelism: 1,
            started: None,
            made: 0,
        }
    }

    fn is_own(&self, shard: u64) -> bool {
        shard as usize % self.parallelism == self.worker
    }

    /// The next rows of this worker, at most `count`, ascending as far as shards keep step.
    fn next_rows(&mut self, count: u64) -> Vec<u64> {
        let mut rows = Vec::new();
        while (rows.len() as u64) < count {
            // One round: each shard that is behind the foremost, or all.
            let Some(lowest) = self
                .shards
                .values()
                .copied()
                .filter(|next| *next < self.end)
                .min()
            else {
                break;
            };
            let round = lowest / SHARDS;
            for next in self.shards.values_mut() {
                if *next / SHARDS == round && *next < self.end && (rows.len() as u64) < count {
                    rows.push(*next);
                    *next = next.saturating_add(SHARDS);
                }
            }
        }
        rows
    }

    /// How many rows may be made now, or how long to wait for one.
    fn allowance(&mut self, max_rows: u64) -> std::result::Result<u64, Duration> {
        let started = *self.started.get_or_insert_with(Instant::now);
        let share = self.rate * self.shards.len() as f64 / SHARDS as f64;
        // The first row is due at once.
        let due = (started.elapsed().as_secs_f64() * share) as u64 + 1;
        match due.saturating_sub(self.made) {
            0 => {
                let next = Duration::try_from_secs_f64(self.made as f64 / share);
                let wait = next
                    .unwrap_or(Duration::MAX)
                    .saturating_sub(started.elapsed());
                Err(wait.max(MIN_WAIT))
            }
            allowed => Ok(allowed.min(max_rows)),
        }
    }
}

impl SourceReader for DatagenReader {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.worker = context.worker;
        self.parallelism = context.parallelism;
        self.shards = (0..SHARDS)
            .filter(|shard| self.is_own(*shard))
            .map(|shard| (shard, shard))
            .collect();
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        for (shard, next) in read_records::<(u64, u64)>(state, POSITIONS)? {
            if let Some(position) = self.shards.get_mut(&shard) {
                *position = next;
            }
        }
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        if self.shards.values().all(|next| *next >= self.end) {
            return Ok(SourceStatus::Finished);
        }
        let most = (max_rows as u64).clamp(1, BATCH_ROWS);
        let allowed = match self.allowance(most) {
            Ok(allowed) => allowed,
            Err(wait) => return Ok(SourceStatus::Waiting(wait)),
        };
        let rows = self.next_rows(allowed);
        self.made += rows.len() as u64;
        let now = output.processing_time();
        let columns = self.fields.iter().map(|field| field.column(&rows, now));
        let columns = columns
            .collect::<aquifer_types::Result<Vec<_>>>()
            .map_err(RuntimeError::internal)?;
        let batch = ChangeBatch::new(columns, None, rows.len()).map_err(RuntimeError::internal)?;
        output.emit(0, batch);
        Ok(SourceStatus::Ready)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let records = self
            .shards
            .iter()
            .map(|shard| to_record(&shard))
            .collect::<Result<Vec<_>>>()?;
        snapshot.list(POSITIONS, "shard and next row, JSON", records);
        Ok(())
    }
}

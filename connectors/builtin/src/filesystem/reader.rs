//! Reads the splits of one worker.
//!
//! The position of every split that was found is kept, those that are read to their end included:
//! this is how a file is known after a restart. A restored bounded source reads the splits of its
//! state and looks for no others.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use aquifer_runtime::error::{ConnectorFailure, Result, SourceError};
use aquifer_runtime::{
    OperatorContext, Output, Restore, RuntimeError, Snapshot, SourceReader, SourceStatus,
};
use aquifer_table_common::connector::{DecodeError, Decoder, DecoderContext, DecodingFormat};
use aquifer_types::ChangeBatch;

use super::listing::{FoundFile, Place};
use super::metadata::FileMetadata;
use super::split::{Progress, Split};
use super::split_file::{SplitFile, lines_before};
use crate::position::{read_records, to_record};

/// Bytes read in one poll, so that it does not block for long.
const POLL_BYTES: usize = 1 << 20;
/// Rows of one batch.
const BATCH_ROWS: usize = 4096;
/// A record longer than this is a fault of the file, such as a quote that is never closed.
const MAX_RECORD_BYTES: usize = 256 << 20;

const SPLITS: &str = "splits";

/// What all readers of a scan share.
pub(super) struct ReadPlan {
    pub(super) table: String,
    pub(super) place: Place,
    /// The files that were there when the job was made.
    pub(super) files: Vec<FoundFile>,
    pub(super) monitor_interval: Option<Duration>,
    pub(super) format: Arc<dyn DecodingFormat>,
    pub(super) decoder: DecoderContext,
    /// The columns to produce.
    pub(super) columns: Vec<ReadColumn>,
}

/// Where a column comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReadColumn {
    /// The next column of the decoder.
    Decoded,
    /// The file.
    Metadata(FileMetadata),
}

pub(super) struct FileReader {
    plan: Arc<ReadPlan>,
    context: Option<OperatorContext>,
    decoder: Option<Box<dyn Decoder>>,
    /// This worker's splits, in the order in which they are read.
    splits: Vec<Split>,
    /// The split being read or to be read next.
    next: usize,
    current: Option<SplitFile>,
    /// The files found so far by a source that goes on looking.
    known: HashSet<String>,
    next_listing: Option<Instant>,
}

impl FileReader {
    pub(super) fn new(plan: Arc<ReadPlan>) -> Self {
        FileReader {
            plan,
            context: None,
            decoder: None,
            splits: Vec::new(),
            next: 0,
            current: None,
            known: HashSet::new(),
            next_listing: None,
        }
    }

    fn context(&self) -> &OperatorContext {
        self.context
            .as_ref()
            .expect("the driver opens a reader before it uses it")
    }

    fn failure(&self, message: impl std::fmt::Display) -> ConnectorFailure {
        ConnectorFailure::external(&self.plan.table, message)
    }

    /// Takes the own splits of files that were not known.
    fn add_files(&mut self, files: &[FoundFile]) {
        // In a watched folder workers list at different times, so that only whole files are sure to
        // be cut in the same way by all.
        let in_ranges = self.plan.monitor_interval.is_none() && self.plan.format.is_splittable();
        let (worker, parallelism) = (self.context().worker, self.context().parallelism);
        for file in files {
            if self.known.contains(&file.path) {
                continue;
            }
            let own = |split: &Split| split.owner(parallelism) == worker;
            self.splits
                .extend(Split::of(file, in_ranges).into_iter().filter(own));
            if self.plan.monitor_interval.is_some() {
                self.known.insert(file.path.clone());
            }
        }
    }

    /// Looks for new files when it is time; how long to wait otherwise.
    fn look_for_files(&mut self, interval: Duration) -> Result<Option<Duration>> {
        let now = Instant::now();
        if let Some(at) = self.next_listing.filter(|at| *at > now) {
            return Ok(Some(at - now));
        }
        let files = self.plan.place.list().map_err(|error| {
            let failure = self.failure("the folder cannot be listed");
            SourceError::Read(failure.with_cause(error).into())
        })?;
        self.next_listing = Some(now + interval);
        self.add_files(&files);
        Ok(if self.next < self.splits.len() {
            None
        } else {
            Some(interval)
        })
    }

    fn open_split(&mut self) -> Result<SplitFile> {
        let split = &self.splits[self.next];
        let opened = SplitFile::open(split).map_err(|error| {
            let failure = self.failure(format!("file '{}' cannot be read", split.path));
            SourceError::Read(failure.with_cause(error).into())
        })?;
        let (offset, line) = match split.progress {
            Progress::At { offset, line } => (offset, line),
            _ => (split.start, 1),
        };
        if let Some(decoder) = &mut self.decoder {
            decoder.start(&split.path, offset, line);
        }
        Ok(opened)
    }

    /// Reads up to `max_rows` rows of the current split; how many rows there were, and how many bytes
    /// were looked at.
    fn read(&mut self, output: &mut Output, max_rows: usize) -> Result<(usize, usize)> {
        let mut file = match self.current.take() {
            Some(file) => file,
            None => self.open_split()?,
        };
        let mut decoder = self
            .decoder
            .take()
            .expect("the driver opens a reader before it uses it");
        let before = decoder.skipped();
        let (bytes, ended) = self.decode(&mut file, decoder.as_mut(), max_rows)?;
        let batch = decoder.take();
        let skipped = decoder.skipped() - before;
        self.decoder = Some(decoder);
        self.context()
            .metrics
            .skipped_records
            .fetch_add(skipped, Relaxed);
        let rows = batch.len();
        let split = &mut self.splits[self.next];
        if rows > 0 {
            output.emit(0, with_metadata(batch, &self.plan.columns, split)?);
        }
        if ended {
            split.progress = Progress::Done;
            self.next += 1;
        } else {
            split.progress = file.progress();
            self.current = Some(file);
        }
        Ok((rows, bytes))
    }

    /// Decodes what is there, after reading on if that is no whole record; the bytes looked at, and
    /// whether the split has ended.
    fn decode(
        &self,
        file: &mut SplitFile,
        decoder: &mut dyn Decoder,
        max_rows: usize,
    ) -> Result<(usize, bool)> {
        let mut bytes = 0;
        loop {
            let piece = file.piece();
            let (waiting, is_end) = (piece.bytes.len(), piece.is_end);
            if waiting > 0 || is_end {
                let decoded = decoder
                    .decode(piece.bytes, is_end, max_rows)
                    .map_err(|error| self.record_error(error))?;
                file.consume(decoded.bytes);
                bytes += decoded.bytes;
                let ended = is_end && decoded.bytes == waiting;
                if ended || decoded.bytes > 0 {
                    return Ok((bytes, ended));
                }
            }
            if file.waiting() > MAX_RECORD_BYTES {
                let path = &self.splits[self.next].path;
                let limit = MAX_RECORD_BYTES >> 20;
                let failure = ConnectorFailure::user(
                    &self.plan.table,
                    format!(
                        "file '{path}' has a record of more than {limit} MB; is a quote not closed?"
                    ),
                );
                return Err(SourceError::Record(failure.into()).into());
            }
            bytes += file.waiting();
            file.fill().map_err(|error| {
                let path = &self.splits[self.next].path;
                let failure = self.failure(format!("file '{path}' cannot be read"));
                SourceError::Read(failure.with_cause(error).into())
            })?;
        }
    }

    #[cold]
    fn record_error(&self, mut error: DecodeError) -> RuntimeError {
        // Lines are counted from the begin of the split; the reader wants those of the file.
        let split = &self.splits[self.next];
        error.line += lines_before(split).unwrap_or(0);
        SourceError::Record(ConnectorFailure::user(&self.plan.table, error).into()).into()
    }
}

/// The columns of a scan in their order.
fn with_metadata(batch: ChangeBatch, columns: &[ReadColumn], split: &Split) -> Result<ChangeBatch> {
    if columns
        .iter()
        .all(|column| matches!(column, ReadColumn::Decoded))
    {
        return Ok(batch);
    }
    let rows = batch.len();
    let (decoded, weights) = batch.into_parts();
    let mut decoded = decoded.into_iter();
    let all = columns.iter().filter_map(|column| match column {
        ReadColumn::Decoded => decoded.next(),
        ReadColumn::Metadata(metadata) => Some(metadata.column(split, rows)),
    });
    ChangeBatch::new(all.collect(), weights, rows).map_err(RuntimeError::internal)
}

impl SourceReader for FileReader {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        let decoder = self.plan.format.create_decoder(&self.plan.decoder);
        self.decoder = Some(decoder.map_err(|error| RuntimeError::user(error.report()))?);
        let plan = Arc::clone(&self.plan);
        self.add_files(&plan.files);
        if let Some(interval) = plan.monitor_interval {
            self.next_listing = Some(Instant::now() + interval);
        }
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        if !state.has(SPLITS) {
            return Ok(());
        }
        let mut restored: Vec<Split> = read_records(state, SPLITS)?;
        restored.sort_by(|a, b| (&a.path, a.index).cmp(&(&b.path, b.index)));
        self.known = restored.iter().map(|split| split.path.clone()).collect();
        let (worker, parallelism) = (self.context().worker, self.context().parallelism);
        restored.retain(|split| split.owner(parallelism) == worker);
        // What was read stands in front, where it is not looked at again.
        restored.sort_by_key(|split| split.progress != Progress::Done);
        self.next = restored
            .iter()
            .take_while(|split| split.progress == Progress::Done)
            .count();
        for split in &restored[self.next..] {
            SplitFile::open(split).map_err(|error| {
                let failure = self.failure(format!("file '{}' cannot be read on", split.path));
                SourceError::Open(failure.with_cause(error).into())
            })?;
        }
        self.splits = restored;
        if self.plan.monitor_interval.is_some() {
            let plan = Arc::clone(&self.plan);
            self.add_files(&plan.files);
        }
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let mut rows = 0;
        let mut bytes = 0;
        while rows < max_rows.max(1) && bytes < POLL_BYTES {
            if self.next == self.splits.len() {
                let Some(interval) = self.plan.monitor_interval else {
                    return Ok(SourceStatus::Finished);
                };
                if let Some(wait) = self.look_for_files(interval)? {
                    return Ok(SourceStatus::Waiting(wait));
                }
            }
            let wanted = (max_rows.max(1) - rows).min(BATCH_ROWS);
            let (emitted, read) = self.read(output, wanted)?;
            rows += emitted;
            bytes += read;
        }
        Ok(SourceStatus::Ready)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let records = self
            .splits
            .iter()
            .map(to_record)
            .collect::<Result<Vec<_>>>()?;
        snapshot.list(SPLITS, "split positions, JSON", records);
        Ok(())
    }
}

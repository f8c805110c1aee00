//! Writes part files and commits them with checkpoints.
//!
//! Rows go to a hidden file. The file is closed when it is large or old enough, and at every
//! checkpoint; a closed file is on disk (fsync) and *prepared*. The state holds the names of all
//! prepared files, so a checkpoint covers exactly the rows that are in them or in files committed
//! before. When the checkpoint is complete they get their visible names. The runtime takes one
//! checkpoint at a time, so everything prepared belongs to it or to one before.
//!
//! After a crash: files that the restored checkpoint names are renamed, unless that was done
//! already; other hidden files of this lineage hold rows that will be written again, and are
//! removed. Each file is the business of one worker: prepared files are dealt out by their order in
//! the state, left-over files by the worker in their name, which no worker of the new run writes to
//! before it has cleaned up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aquifer_runtime::error::{ConnectorFailure, Result, SinkError};
use aquifer_runtime::{
    Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, RuntimeError, Snapshot,
};
use aquifer_table_common::TableError;
use aquifer_table_common::connector::{Encoder, EncodingFormat};
use aquifer_types::{ChangeBatch, Field};

use super::part_name::PartName;
use crate::position::{read_records, to_record};

/// Bytes collected before they are written.
const WRITE_BYTES: usize = 64 << 10;

const PREPARED: &str = "prepared-files";
const LINEAGES: &str = "lineages";

/// When a part file is closed, besides at checkpoints.
#[derive(Clone, Copy, Debug)]
pub(super) struct RollingPolicy {
    pub(super) size_bytes: u64,
    pub(super) interval: Duration,
}

/// A file being written.
pub(super) trait PartOutput: Write {
    /// Returns when all that was written is on disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl PartOutput for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Makes a new file; a parameter so that tests can make writing fail.
pub(super) type CreateFile = Arc<dyn Fn(&Path) -> io::Result<Box<dyn PartOutput>> + Send + Sync>;

/// Makes a file of the operating system, which must not be there yet.
pub(super) fn create_file(path: &Path) -> io::Result<Box<dyn PartOutput>> {
    Ok(Box::new(File::create_new(path)?))
}

/// What all writers of a table share.
pub(super) struct WritePlan {
    pub(super) table: String,
    pub(super) folder: PathBuf,
    pub(super) policy: RollingPolicy,
    pub(super) format: Arc<dyn EncodingFormat>,
    pub(super) fields: Vec<Field>,
    pub(super) create_file: CreateFile,
}

struct OpenPart {
    name: PartName,
    file: Box<dyn PartOutput>,
    buffer: Vec<u8>,
    written: u64,
    opened_at: i64,
}

/// The operator of one worker.
pub(super) struct PartWriter {
    plan: Arc<WritePlan>,
    encoder: Option<Box<dyn Encoder>>,
    uid: String,
    worker: usize,
    parallelism: usize,
    /// The lineages of all workers of the job's first run, sorted; this worker writes under one.
    lineages: Vec<String>,
    lineage: String,
    next_number: u64,
    open: Option<OpenPart>,
    prepared: Vec<PartName>,
}

impl PartWriter {
    pub(super) fn new(plan: Arc<WritePlan>) -> Self {
        PartWriter {
            plan,
            encoder: None,
            uid: String::new(),
            worker: 0,
            parallelism: 1,
            lineages: Vec::new(),
            lineage: String::new(),
            next_number: 0,
            open: None,
            prepared: Vec::new(),
        }
    }

    fn failure(&self, action: &str, path: &Path, error: io::Error) -> ConnectorFailure {
        let message = format!("cannot {action} '{}'", path.display());
        ConnectorFailure::external(&self.plan.table, message).with_cause(error)
    }

    fn write_error(&self, action: &str, path: &Path, error: io::Error) -> RuntimeError {
        SinkError::Write(self.failure(action, path, error).into()).into()
    }

    fn commit_error(&self, action: &str, path: &Path, error: io::Error) -> RuntimeError {
        SinkError::Commit(self.failure(action, path, error).into()).into()
    }

    fn write(&mut self, batch: &ChangeBatch, now: i64) -> Result<()> {
        let mut part = match self.open.take() {
            Some(part) => part,
            None => self.open_part(now)?,
        };
        let encoder = self
            .encoder
            .as_mut()
            .expect("the driver opens an operator before it uses it");
        encoder
            .encode(batch, &mut part.buffer)
            .map_err(runtime_error)?;
        if part.buffer.len() >= WRITE_BYTES {
            self.flush(&mut part)?;
        }
        let size = part.written + part.buffer.len() as u64;
        self.open = Some(part);
        if size >= self.plan.policy.size_bytes {
            self.close_part()?;
        }
        Ok(())
    }

    fn open_part(&mut self, now: i64) -> Result<OpenPart> {
        let name = PartName {
            uid: self.uid.clone(),
            lineage: self.lineage.clone(),
            worker: self.worker,
            number: self.next_number,
        };
        self.next_number += 1;
        let path = name.in_progress_path(&self.plan.folder);
        let file = (self.plan.create_file)(&path)
            .map_err(|error| self.write_error("create file", &path, error))?;
        let mut buffer = Vec::with_capacity(2 * WRITE_BYTES);
        if let Some(encoder) = &mut self.encoder {
            encoder.start(&mut buffer);
        }
        Ok(OpenPart {
            name,
            file,
            buffer,
            written: 0,
            opened_at: now,
        })
    }

    fn flush(&self, part: &mut OpenPart) -> Result<()> {
        part.file.write_all(&part.buffer).map_err(|error| {
            let path = part.name.in_progress_path(&self.plan.folder);
            self.write_error("write file", &path, error)
        })?;
        part.written += part.buffer.len() as u64;
        part.buffer.clear();
        Ok(())
    }

    /// Ends the open file, if there is one: it is on disk and prepared.
    fn close_part(&mut self) -> Result<()> {
        let Some(mut part) = self.open.take() else {
            return Ok(());
        };
        self.flush(&mut part)?;
        part.file.sync().map_err(|error| {
            let path = part.name.in_progress_path(&self.plan.folder);
            self.write_error("write file", &path, error)
        })?;
        self.prepared.push(part.name);
        Ok(())
    }

    /// Gives prepared files their visible names, unless they have them.
    fn publish(&self, names: &[PartName]) -> Result<()> {
        for name in names {
            let (from, to) = (
                name.in_progress_path(&self.plan.folder),
                name.committed_path(&self.plan.folder),
            );
            match fs::rename(&from, &to) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => {}
                Err(error) => return Err(self.commit_error("commit file", &from, error)),
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        self.sync_folder()
    }

    /// Returns when the names in the folder are on disk.
    fn sync_folder(&self) -> Result<()> {
        let folder = &self.plan.folder;
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| self.commit_error("write folder", folder, error))
    }

    /// The part files in the folder, by name.
    fn list(&self) -> Result<Vec<(String, PartName)>> {
        let folder = &self.plan.folder;
        let list = |error| self.write_error("list folder", folder, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(list)? {
            let name = entry.map_err(list)?.file_name();
            if let Some((text, part)) = name
                .to_str()
                .and_then(|text| Some((text.to_string(), PartName::parse(text)?)))
            {
                names.push((text, part));
            }
        }
        Ok(names)
    }

    /// Removes what earlier runs left behind, and goes on with numbers that are not used.
    fn clean_up(&mut self, prepared: &[PartName]) -> Result<()> {
        for name in prepared {
            self.skip_number(name);
        }
        for (text, name) in self.list()? {
            self.skip_number(&name);
            if self.lineages.binary_search(&name.lineage).is_err() {
                continue;
            }
            let is_left_over = text.starts_with('.') && !prepared.contains(&name);
            if is_left_over && name.worker % self.parallelism == self.worker {
                let path = self.plan.folder.join(text);
                fs::remove_file(&path)
                    .map_err(|error| self.write_error("remove file", &path, error))?;
            }
        }
        Ok(())
    }
}

impl PartWriter {
    /// The number of this name is not given again.
    fn skip_number(&mut self, name: &PartName) {
        if name.lineage == self.lineage && name.worker == self.worker {
            self.next_number = self.next_number.max(name.number + 1);
        }
    }
}

fn runtime_error(error: TableError) -> RuntimeError {
    match error {
        TableError::Execution(error) => error.error,
        other => RuntimeError::user(other.report()),
    }
}

impl EpochOperator for PartWriter {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        let encoder = self.plan.format.create_encoder(&self.plan.fields);
        self.encoder = Some(encoder.map_err(runtime_error)?);
        let folder = &self.plan.folder;
        fs::create_dir_all(folder).map_err(|error| {
            SinkError::Open(self.failure("create folder", folder, error).into())
        })?;
        let mut random = [0; 6];
        getrandom::fill(&mut random).map_err(|error| {
            RuntimeError::internal(format!("the system gives no random bytes: {error}"))
        })?;
        self.lineage = random.iter().map(|byte| format!("{byte:02x}")).collect();
        self.lineages = vec![self.lineage.clone()];
        self.uid = PartName::uid_text(&context.uid);
        self.worker = context.worker;
        self.parallelism = context.parallelism;
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let mut lineages: Vec<String> = read_records(state, LINEAGES)?;
        lineages.sort_unstable();
        lineages.dedup();
        if !lineages.is_empty() {
            self.lineage = lineages[self.worker % lineages.len()].clone();
            self.lineages = lineages;
        }
        let names: Vec<String> = read_records(state, PREPARED)?;
        let mut prepared = Vec::with_capacity(names.len());
        for name in names {
            prepared.push(PartName::parse(&name).ok_or_else(|| {
                RuntimeError::user(format!("'{name}' in the state is no part file's name"))
            })?);
        }
        let own = prepared.iter().skip(self.worker).step_by(self.parallelism);
        self.publish(&own.cloned().collect::<Vec<_>>())?;
        self.clean_up(&prepared)
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        self.write(&batch, output.processing_time())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let interval = i64::try_from(self.plan.policy.interval.as_millis()).unwrap_or(i64::MAX);
        let now = output.processing_time();
        let is_old = |part: &OpenPart| now.saturating_sub(part.opened_at) >= interval;
        if self.open.as_ref().is_some_and(is_old) {
            self.close_part()?;
        }
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.close_part()?;
        if !self.prepared.is_empty() {
            // The names must be there when the checkpoint says so.
            self.sync_folder()?;
        }
        let prepared = self
            .prepared
            .iter()
            .map(|name| to_record(&name.committed()));
        let lineages = self.lineages.iter().map(to_record);
        snapshot.list(
            PREPARED,
            "file names, JSON",
            prepared.collect::<Result<_>>()?,
        );
        snapshot.list(LINEAGES, "lineages, JSON", lineages.collect::<Result<_>>()?);
        Ok(())
    }

    fn commit(&mut self, _checkpoint: u64) -> Result<()> {
        self.publish(&self.prepared)?;
        self.prepared.clear();
        Ok(())
    }
}

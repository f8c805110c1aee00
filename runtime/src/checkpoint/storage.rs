//! Where checkpoints live on a local (or mounted) file system.
//!
//! ```text
//! <dir>/<job>/chk-<id>/<uid>/<state>.w<worker>      one file per operator, state and worker
//! <dir>/<job>/chk-<id>/manifest.json                written last
//! <savepoint dir>/savepoint-<id>/..                 the same
//! ```
//! With several processes the folders must be shared by them under the same paths.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::format::FileHeader;
use super::frame_writer::FrameWriter;
use super::manifest::{ManifestHead, sync_folder};
use super::names::file_name;
use super::{
    CheckpointError, CheckpointKind, MANIFEST_FILE, Manifest, ManifestFile, ManifestOperator,
    ManifestState, StateSchema,
};
use crate::error::{Result, RuntimeError, WithPath};
use crate::operator::Snapshot;

/// One checkpoint that is being taken: what every worker must know to write its part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointTarget {
    /// Number of the checkpoint within the job.
    pub id: u64,
    /// Who asked for it.
    pub kind: CheckpointKind,
    /// Its folder.
    pub folder: PathBuf,
    /// Number of workers in all processes.
    pub workers: usize,
}

/// One state that has been written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateAck {
    /// Name of the state.
    pub name: String,
    /// Its kind and encoding.
    pub schema: StateSchema,
    /// Its file; none when the state is empty on this worker.
    pub file: Option<ManifestFile>,
}

/// All states of one operator instance that have been written and are durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorAck {
    /// The operator's uid.
    pub uid: String,
    /// The operator's name.
    pub operator: String,
    /// Index of the worker.
    pub worker: usize,
    /// The states.
    pub states: Vec<StateAck>,
}

impl OperatorAck {
    /// Bytes written.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let files = self.states.iter().filter_map(|state| state.file.as_ref());
        files.map(|file| file.size_bytes).sum()
    }
}

/// The checkpoints of one job.
#[derive(Clone, Debug)]
pub struct CheckpointStorage {
    job: String,
    /// `<dir>/<job>`; none when the job takes savepoints only.
    folder: Option<PathBuf>,
}

impl CheckpointStorage {
    /// Storage for checkpoints of `job` below `dir`. Without a `dir` only savepoints can be taken.
    pub fn new(dir: Option<&Path>, job: impl Into<String>) -> Self {
        let job = job.into();
        Self {
            folder: dir.map(|dir| dir.join(file_name(&job))),
            job,
        }
    }

    /// Starts checkpoint `id`: makes its folder. What an earlier try left there is removed.
    ///
    /// # Errors
    /// `checkpoint.failed` when there is no folder for checkpoints or `id` is complete already,
    /// `checkpoint.write`.
    pub fn begin(&self, id: u64, workers: usize) -> Result<CheckpointTarget> {
        let folder = self
            .folder
            .as_ref()
            .ok_or_else(|| CheckpointError::Failed {
                id,
                reason: "option 'execution.checkpointing.dir' is not set".to_owned(),
            })?;
        let target = CheckpointTarget {
            id,
            kind: CheckpointKind::Checkpoint,
            folder: folder.join(format!("chk-{id}")),
            workers,
        };
        prepare(target)
    }

    /// Starts savepoint `id` in a new folder `savepoint-<id>` below `dir`.
    ///
    /// # Errors
    /// `checkpoint.failed` when that folder holds a savepoint already, `checkpoint.write`.
    pub fn begin_savepoint(&self, id: u64, dir: &Path, workers: usize) -> Result<CheckpointTarget> {
        prepare(CheckpointTarget {
            id,
            kind: CheckpointKind::Savepoint,
            folder: dir.join(format!("savepoint-{id}")),
            workers,
        })
    }

    /// Writes all states of one operator instance and makes them durable.
    ///
    /// # Errors
    /// `checkpoint.write` (a full disk, say), `checkpoint.encode`, `checkpoint.inconsistent` when a state
    /// is given twice, and what the encoding closures return.
    pub fn write_operator(
        &self,
        target: &CheckpointTarget,
        uid: &str,
        operator: &str,
        worker: usize,
        snapshot: Snapshot,
    ) -> Result<OperatorAck> {
        let mut states: Vec<StateAck> = Vec::new();
        let subfolder = file_name(uid);
        for state in snapshot.into_states() {
            let schema = StateSchema {
                kind: state.kind,
                encoding: state.schema,
            };
            if states.iter().any(|other| other.name == state.name) {
                return Err(CheckpointError::Inconsistent {
                    id: target.id,
                    reason: format!("operator '{uid}' has state '{}' twice", state.name),
                }
                .into());
            }
            let relative = format!("{subfolder}/{}.w{worker}", file_name(&state.name));
            let path = target.folder.join(&relative);
            let header = FileHeader {
                job: self.job.clone(),
                uid: uid.to_owned(),
                operator: operator.to_owned(),
                state: state.name.clone(),
                schema: schema.clone(),
                worker,
                workers: target.workers,
            };
            let mut file = LazyFile::new(&path);
            let mut writer = FrameWriter::new(&mut file, &path, &header);
            (state.encode)(&mut writer)?;
            let written = writer.finish()?;
            file.sync().map_err(|cause| cannot_write(&path, cause))?;
            states.push(StateAck {
                name: state.name,
                schema,
                file: written.map(|written| ManifestFile {
                    worker,
                    path: relative,
                    size_bytes: written.size_bytes,
                    crc32: written.crc32,
                    records: written.records,
                }),
            });
        }
        if states.iter().any(|state| state.file.is_some()) {
            sync_folder(&target.folder.join(subfolder))?;
        }
        Ok(OperatorAck {
            uid: uid.to_owned(),
            operator: operator.to_owned(),
            worker,
            states,
        })
    }

    /// Makes the checkpoint complete by writing its manifest. `acks` are those of all operator instances;
    /// `epoch` is the last one whose effects are in the state.
    ///
    /// # Errors
    /// `checkpoint.inconsistent` when acks contradict each other, `checkpoint.write`, `io.failed`.
    pub fn complete(
        &self,
        target: &CheckpointTarget,
        epoch: u64,
        graph_fingerprint: u64,
        acks: Vec<OperatorAck>,
    ) -> Result<Manifest> {
        let operators = collect(target, acks)?;
        let head = ManifestHead {
            job: self.job.clone(),
            graph_fingerprint,
            checkpoint_id: target.id,
            kind: target.kind,
            epoch,
            workers: target.workers,
        };
        let manifest = Manifest::new(head, operators, target.folder.clone());
        sync_folder(&target.folder)?;
        manifest.write()?;
        if let Some(parent) = target.folder.parent() {
            sync_folder(parent)?;
        }
        Ok(manifest)
    }

    /// Gives up a checkpoint and removes what was written of it. A complete one stays.
    ///
    /// # Errors
    /// `io.failed`.
    pub fn abort(&self, target: &CheckpointTarget) -> Result<()> {
        if target.folder.join(MANIFEST_FILE).exists() {
            return Ok(());
        }
        remove_folder(&target.folder)
    }

    /// The newest complete checkpoint of the job. Incomplete ones do not count.
    ///
    /// # Errors
    /// `checkpoint.manifest` or `checkpoint.version` when the newest manifest cannot be read: falling
    /// back silently to an older one would lose work; `io.failed`.
    pub fn latest(&self) -> Result<Option<Manifest>> {
        match &self.folder {
            Some(folder) => latest_in(folder),
            None => Ok(None),
        }
    }

    /// A number for the next checkpoint: above all that have a folder, complete or not.
    ///
    /// # Errors
    /// `io.failed`.
    pub fn next_id(&self) -> Result<u64> {
        let Some(folder) = &self.folder else {
            return Ok(1);
        };
        let newest = checkpoints_in(folder)?.last().map_or(0, |(id, _)| *id);
        Ok(newest + 1)
    }

    /// Deletes all but the newest `retained` complete checkpoints, and incomplete ones older than those.
    ///
    /// # Errors
    /// `io.failed`.
    pub fn discard_older(&self, retained: usize) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let mut kept = 0;
        for (_, checkpoint) in checkpoints_in(folder)?.iter().rev() {
            let manifest = checkpoint.join(MANIFEST_FILE);
            let complete = manifest.exists();
            if complete && kept < retained {
                kept += 1;
            } else if kept >= retained {
                if complete {
                    // First the manifest: half a folder must never look complete.
                    fs::remove_file(&manifest).with_path(&manifest)?;
                }
                remove_folder(checkpoint)?;
            }
        }
        Ok(())
    }

    /// Opens a savepoint or checkpoint: its folder, its manifest, or a folder of checkpoints, of which
    /// the newest complete one is taken.
    ///
    /// # Errors
    /// `checkpoint.not_found`, `checkpoint.manifest`, `checkpoint.version`, `io.failed`.
    pub fn open(path: &Path) -> Result<Manifest> {
        let folder = match path.file_name() {
            Some(name) if name == MANIFEST_FILE => path.parent().unwrap_or(path),
            _ => path,
        };
        if let Some(manifest) = Manifest::read(folder)? {
            return Ok(manifest);
        }
        latest_in(folder)?.ok_or_else(|| {
            CheckpointError::NotFound {
                path: path.to_path_buf(),
            }
            .into()
        })
    }
}

fn prepare(target: CheckpointTarget) -> Result<CheckpointTarget> {
    if target.folder.join(MANIFEST_FILE).exists() {
        return Err(CheckpointError::Failed {
            id: target.id,
            reason: format!("folder '{}' holds one already", target.folder.display()),
        }
        .into());
    }
    remove_folder(&target.folder)?;
    fs::create_dir_all(&target.folder).map_err(|cause| cannot_write(&target.folder, cause))?;
    Ok(target)
}

/// Sorts acks by operator, state and worker, and checks that they agree.
fn collect(target: &CheckpointTarget, acks: Vec<OperatorAck>) -> Result<Vec<ManifestOperator>> {
    let inconsistent = |reason: String| CheckpointError::Inconsistent {
        id: target.id,
        reason,
    };
    let mut sorted = BTreeMap::new();
    for ack in acks {
        let (uid, worker) = (ack.uid.clone(), ack.worker);
        if worker >= target.workers {
            let workers = target.workers;
            return Err(inconsistent(format!(
                "operator '{uid}' reports from worker {worker} of {workers}"
            ))
            .into());
        }
        if sorted.insert((ack.uid.clone(), ack.worker), ack).is_some() {
            return Err(inconsistent(format!(
                "operator '{uid}' reports twice from worker {worker}"
            ))
            .into());
        }
    }
    let mut operators: Vec<ManifestOperator> = Vec::new();
    for ((uid, worker), ack) in sorted {
        if operators.last().is_none_or(|last| last.uid != uid) {
            operators.push(ManifestOperator {
                uid: uid.clone(),
                name: ack.operator,
                states: Vec::new(),
            });
        }
        let operator = operators.last_mut().expect("one was pushed");
        for state in ack.states {
            match operator.states.iter_mut().find(|s| s.name == state.name) {
                None => operator.states.push(ManifestState {
                    name: state.name,
                    schema: state.schema,
                    files: state.file.into_iter().collect(),
                }),
                Some(known) if known.schema == state.schema => known.files.extend(state.file),
                Some(known) => {
                    return Err(inconsistent(format!(
                        "state '{}' of operator '{uid}' is {} on worker {worker} and {} on others",
                        state.name, state.schema, known.schema
                    ))
                    .into());
                }
            }
        }
    }
    for operator in &mut operators {
        operator.states.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(operators)
}

/// The folders `chk-<id>` in `folder`, by id; none when the folder does not exist.
fn checkpoints_in(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(RuntimeError::io(folder, error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.with_path(folder)?;
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix("chk-"));
        if let Some(id) = id.and_then(|id| id.parse().ok()) {
            found.push((id, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn latest_in(folder: &Path) -> Result<Option<Manifest>> {
    for (_, checkpoint) in checkpoints_in(folder)?.iter().rev() {
        if let Some(manifest) = Manifest::read(checkpoint)? {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RuntimeError::io(folder, error))
        }
        _ => Ok(()),
    }
}

fn cannot_write(path: &Path, cause: io::Error) -> RuntimeError {
    CheckpointError::Write {
        path: path.to_path_buf(),
        cause: Arc::new(cause),
    }
    .into()
}

/// A file that is created by the first write to it.
struct LazyFile<'a> {
    path: &'a Path,
    file: Option<File>,
}

impl<'a> LazyFile<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, file: None }
    }

    fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }
}

impl Write for LazyFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            self.file = Some(File::create(self.path)?);
        }
        let file = self.file.as_mut().expect("it was just made");
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

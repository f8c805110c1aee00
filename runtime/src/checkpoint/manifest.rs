//! The manifest: what belongs to a checkpoint.
//!
//! It is written last, so a folder with a manifest is complete. Paths are relative to its folder, so the
//! folder may be copied or moved. The checksum covers the content, not its layout as text.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CheckpointError, StateSchema};
use crate::error::{Result, RuntimeError, WithPath};
use crate::exchange::routing_fingerprint;

/// Name of the manifest in a checkpoint's folder.
pub const MANIFEST_FILE: &str = "manifest.json";

/// Raised when the format changes so that older programs cannot read it.
const VERSION: u32 = 1;

/// Who asked for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointKind {
    /// The engine, from time to time; it deletes old ones.
    Checkpoint,
    /// The user; it stays until the user deletes it.
    Savepoint,
}

impl fmt::Display for CheckpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkpoint => "checkpoint",
            Self::Savepoint => "savepoint",
        })
    }
}

/// One file of state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    /// Index of the worker that wrote it.
    pub worker: usize,
    /// Path relative to the manifest's folder, with `/` between its parts.
    pub path: String,
    /// Length of the file.
    pub size_bytes: u64,
    /// Checksum in the file's footer.
    pub crc32: u32,
    /// Number of records.
    pub records: u64,
}

/// One state of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestState {
    /// Name of the state.
    pub name: String,
    /// Its kind and encoding.
    pub schema: StateSchema,
    /// Its files, in the order of the workers; workers without records have none.
    pub files: Vec<ManifestFile>,
}

/// One operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestOperator {
    /// The stable id by which a restore finds the operator.
    pub uid: String,
    /// Its name when the checkpoint was taken.
    pub name: String,
    /// Its states, in the order of their names.
    pub states: Vec<ManifestState>,
}

/// What belongs to a checkpoint or savepoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this format.
    pub format_version: u32,
    /// Version of the program that wrote it.
    pub engine_version: String,
    /// Name of the job.
    pub job: String,
    /// Fingerprint of the job's graph.
    pub graph_fingerprint: u64,
    /// Fingerprint of the function that routed the keys: see
    /// [`routing_fingerprint`](crate::exchange::routing_fingerprint).
    pub routing_fingerprint: u64,
    /// Number of the checkpoint within the job.
    pub checkpoint_id: u64,
    /// Who asked for it.
    pub kind: CheckpointKind,
    /// The last epoch whose effects are in the state.
    pub epoch: u64,
    /// Number of workers in all processes.
    pub workers: usize,
    /// The operators, in the order of their uids.
    pub operators: Vec<ManifestOperator>,
    /// Checksum of everything else.
    checksum: u32,
    /// Where the manifest was read from or written to.
    #[serde(skip)]
    folder: PathBuf,
}

/// What a manifest says about the job as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ManifestHead {
    pub(super) job: String,
    pub(super) graph_fingerprint: u64,
    pub(super) checkpoint_id: u64,
    pub(super) kind: CheckpointKind,
    pub(super) epoch: u64,
    pub(super) workers: usize,
}

impl Manifest {
    pub(super) fn new(
        head: ManifestHead,
        operators: Vec<ManifestOperator>,
        folder: PathBuf,
    ) -> Self {
        let mut manifest = Self {
            format_version: VERSION,
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            job: head.job,
            graph_fingerprint: head.graph_fingerprint,
            routing_fingerprint: routing_fingerprint(),
            checkpoint_id: head.checkpoint_id,
            kind: head.kind,
            epoch: head.epoch,
            workers: head.workers,
            operators,
            checksum: 0,
            folder,
        };
        manifest.checksum = manifest.compute_checksum();
        manifest
    }

    /// The checkpoint's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of state in all files.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.files().map(|file| file.size_bytes).sum()
    }

    fn files(&self) -> impl Iterator<Item = &ManifestFile> {
        self.operators
            .iter()
            .flat_map(|operator| &operator.states)
            .flat_map(|state| &state.files)
    }

    fn compute_checksum(&self) -> u32 {
        let mut plain = self.clone();
        plain.checksum = 0;
        let json = serde_json::to_vec(&plain).expect("strings and numbers are valid JSON");
        crc32fast::hash(&json)
    }

    /// Writes the manifest so that after a crash it is there as a whole or not at all.
    pub(super) fn write(&self) -> Result<()> {
        let temporary = self.folder.join("manifest.json.tmp");
        let path = self.folder.join(MANIFEST_FILE);
        let mut text = serde_json::to_vec_pretty(self).expect("strings and numbers are valid JSON");
        text.push(b'\n');
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&temporary)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|cause| CheckpointError::Write {
            path: path.clone(),
            cause: Arc::new(cause),
        })?;
        sync_folder(&self.folder)
    }

    /// Reads the manifest in `folder`; `None` when there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        /// The part that stays in all versions.
        #[derive(Deserialize)]
        struct Head {
            format_version: u32,
        }
        let path = folder.join(MANIFEST_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RuntimeError::io(path, error)),
        };
        let refuse = |reason: String| CheckpointError::Manifest {
            path: path.clone(),
            reason,
        };
        let head: Head = serde_json::from_slice(&text).map_err(|e| refuse(e.to_string()))?;
        if head.format_version != VERSION {
            return Err(CheckpointError::Version {
                path,
                found: head.format_version,
                supported: VERSION,
            }
            .into());
        }
        let mut manifest: Self =
            serde_json::from_slice(&text).map_err(|e| refuse(e.to_string()))?;
        if manifest.checksum != manifest.compute_checksum() {
            return Err(refuse("its checksum does not match".to_owned()).into());
        }
        for file in manifest.files() {
            let inside = Path::new(&file.path)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if !inside {
                return Err(refuse(format!("path '{}' leads out of the folder", file.path)).into());
            }
        }
        manifest.folder = folder.to_path_buf();
        Ok(Some(manifest))
    }
}

/// Makes what was created or renamed in `folder` durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_path(folder)
}

//! Reading state back.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frame_reader::FrameReader;
use super::{
    CheckpointError, Manifest, ManifestFile, ManifestOperator, ManifestState, StateProblem,
    StateSchema,
};
use crate::error::{Result, WithPath};
use crate::exchange::{routing_fingerprint, worker_of};
use crate::operator::{Restore, StateKind, StateSource};

/// Read ahead this many bytes.
const READ_BUFFER: usize = 128 << 10;

/// Tells by its routing hash whether a key belongs to this instance.
pub type KeyFilter = Arc<dyn Fn(u64) -> bool + Send + Sync>;

/// The state in one checkpoint or savepoint. Workers share it; each reads for itself.
#[derive(Clone, Debug)]
pub struct RestoredState {
    manifest: Arc<Manifest>,
    allow_unclaimed: bool,
}

impl RestoredState {
    /// The state that `manifest` names. With `allow_unclaimed`, state that the job does not use is dropped
    /// instead of refused.
    #[must_use]
    pub fn open(manifest: Manifest, allow_unclaimed: bool) -> Self {
        Self {
            manifest: Arc::new(manifest),
            allow_unclaimed,
        }
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Compares the stored operators with those of the job that may have state, given by their uids. What
    /// is in the states is checked by each operator when it reads them, and
    /// [`Restore::check_claimed`] finds states that it did not read.
    ///
    /// New operators may start empty. Beside state that nobody claims they are most likely old ones under
    /// another uid, so then they are named as well.
    ///
    /// # Errors
    /// `checkpoint.incompatible`, naming everything that does not fit.
    pub fn check(&self, uids: &BTreeSet<&str>) -> Result<()> {
        let mut problems = Vec::new();
        if self.manifest.routing_fingerprint != routing_fingerprint() {
            problems.push(StateProblem::Routing {
                engine_version: self.manifest.engine_version.clone(),
            });
        }
        let is_unclaimed =
            |o: &&ManifestOperator| !o.states.is_empty() && !uids.contains(o.uid.as_str());
        let unclaimed: Vec<_> = self
            .manifest
            .operators
            .iter()
            .filter(is_unclaimed)
            .collect();
        if !self.allow_unclaimed && !unclaimed.is_empty() {
            problems.extend(unclaimed.into_iter().map(|operator| {
                StateProblem::UnclaimedOperator {
                    uid: operator.uid.clone(),
                    operator: operator.name.clone(),
                }
            }));
            let new = uids.iter().filter(|uid| self.operator(uid).is_none());
            problems.extend(new.map(|uid| StateProblem::NewOperator {
                uid: (*uid).to_owned(),
            }));
        }
        self.refuse(problems)
    }

    fn refuse(&self, problems: Vec<StateProblem>) -> Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(CheckpointError::Incompatible {
            path: self.manifest.folder().to_path_buf(),
            problems,
        }
        .into())
    }

    fn operator(&self, uid: &str) -> Option<&ManifestOperator> {
        self.manifest.operators.iter().find(|o| o.uid == uid)
    }

    fn state(&self, uid: &str, state: &str) -> Option<&ManifestState> {
        let operator = self.operator(uid)?;
        operator.states.iter().find(|s| s.name == state)
    }

    /// What the instance of operator `uid` on `worker` gets back when workers `0..parallelism` run it;
    /// `None` when the checkpoint has no state of it.
    #[must_use]
    pub fn restore(&self, uid: &str, worker: usize, parallelism: usize) -> Option<Restore> {
        self.operator(uid).filter(|o| !o.states.is_empty())?;
        Some(Restore::new(OperatorSource {
            state: self.clone(),
            uid: uid.to_owned(),
            filter: Arc::new(move |hash| worker_of(hash, parallelism) == worker),
            claimed: RefCell::default(),
        }))
    }

    /// Reads one state: keyed records that `filter` accepts, or all records of a list state; `None` when
    /// the checkpoint has no such state.
    #[must_use]
    pub fn reader(&self, uid: &str, state: &str, filter: KeyFilter) -> Option<StateReader> {
        let found = self.state(uid, state)?;
        let folder = self.manifest.folder();
        let files = found.files.iter();
        Some(StateReader {
            uid: uid.to_owned(),
            state: state.to_owned(),
            schema: found.schema.clone(),
            files: files
                .map(|file| (folder.join(&file.path), file.clone()))
                .collect(),
            current: None,
            filter,
        })
    }
}

/// The states of one operator as one instance sees them.
struct OperatorSource {
    state: RestoredState,
    uid: String,
    filter: KeyFilter,
    /// Names of the states that the operator has asked for.
    claimed: RefCell<BTreeSet<String>>,
}

impl StateSource for OperatorSource {
    fn read(&self, name: &str, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let filter = Arc::clone(&self.filter);
        let Some(mut reader) = self.state.reader(&self.uid, name, filter) else {
            return Ok(());
        };
        while let Some(record) = reader.next()? {
            each(record.hash, record.bytes)?;
        }
        Ok(())
    }

    fn schema(&self, name: &str) -> Option<&str> {
        let state = self.state.state(&self.uid, name)?;
        self.claimed.borrow_mut().insert(name.to_owned());
        Some(&state.schema.encoding)
    }

    fn check_claimed(&self) -> Result<()> {
        if self.state.allow_unclaimed {
            return Ok(());
        }
        let claimed = self.claimed.borrow();
        let states = self.state.operator(&self.uid).map(|o| o.states.iter());
        let problems = states
            .into_iter()
            .flatten()
            .filter(|state| !claimed.contains(&state.name))
            .map(|state| StateProblem::UnclaimedState {
                uid: self.uid.clone(),
                state: state.name.clone(),
            });
        self.state.refuse(problems.collect())
    }
}

/// One stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Routing hash of its key; 0 in list state.
    pub hash: u64,
    /// The worker that wrote it.
    pub worker: usize,
    /// The bytes that the operator wrote.
    pub bytes: &'a [u8],
}

/// Streams the records of one state over the files of all old workers, in the order they were written.
/// Only one frame is in memory at a time.
pub struct StateReader {
    uid: String,
    state: String,
    schema: StateSchema,
    files: VecDeque<(PathBuf, ManifestFile)>,
    current: Option<(usize, FrameReader)>,
    filter: KeyFilter,
}

impl fmt::Debug for StateReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateReader('{}' of '{}')", self.state, self.uid)
    }
}

impl StateReader {
    /// Kind and encoding of the records.
    #[must_use]
    pub fn schema(&self) -> &StateSchema {
        &self.schema
    }

    /// The next record that belongs to this worker; `None` after the last.
    ///
    /// # Errors
    /// `io.failed`, `checkpoint.not_a_state_file`, `checkpoint.version`, `checkpoint.truncated`,
    /// `checkpoint.corrupt`; each names the file and, where it has one, the place.
    // The record borrows the reader's buffer, so this cannot be an `Iterator`.
    #[expect(
        clippy::should_implement_trait,
        reason = "items borrow from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        loop {
            let Some((_, reader)) = &mut self.current else {
                let Some((path, file)) = self.files.pop_front() else {
                    return Ok(None);
                };
                self.current = Some((file.worker, self.open(&path, &file)?));
                continue;
            };
            if !reader.advance()? {
                self.current = None;
            } else if self.schema.kind == StateKind::List || (self.filter)(reader.hash()) {
                break;
            }
        }
        Ok(self.current.as_ref().map(|(worker, reader)| Record {
            hash: reader.hash(),
            worker: *worker,
            bytes: reader.record(),
        }))
    }

    fn open(&self, path: &Path, file: &ManifestFile) -> Result<FrameReader> {
        let input = File::open(path).with_path(path)?;
        let length = input.metadata().with_path(path)?.len();
        let input = Box::new(BufReader::with_capacity(READ_BUFFER, input));
        let reader = FrameReader::open(input, path, length, Some(file.crc32))?;
        if length != file.size_bytes {
            let expected = file.size_bytes;
            return Err(reader.corrupt(
                length.min(expected),
                format!("the file has {length} bytes, the manifest says {expected}"),
            ));
        }
        let header = reader.header();
        let is_expected = header.uid == self.uid
            && header.state == self.state
            && header.schema == self.schema
            && header.worker == file.worker;
        if is_expected {
            return Ok(reader);
        }
        Err(reader.corrupt(
            0,
            format!(
                "the file holds {} '{}' of operator '{}' from worker {}, the manifest says {} '{}' of \
                 operator '{}' from worker {}",
                header.schema,
                header.state,
                header.uid,
                header.worker,
                self.schema,
                self.state,
                self.uid,
                file.worker,
            ),
        ))
    }
}

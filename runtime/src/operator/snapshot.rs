//! How an operator hands over its state and gets it back, without knowing where it is kept.
//!
//! State is a list of records under a name. **Keyed** records carry the routing hash of their key: after a restore
//! with another number of workers each worker is given those that belong to it. **List** records have no key (the
//! position of a source split, a prepared transaction, a frame of columns): every instance is given all of them and
//! keeps what is its own.
//!
//! Encoding is deferred: an operator puts a closure into the [`Snapshot`], which owns a copy of the state and runs
//! on the writer's thread, so that the worker only pays for the copy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// How the records of a state are shared out on restore. See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateKind {
    /// By the hash of the key.
    Keyed,
    /// All records to every instance.
    List,
}

/// Takes the records of one state.
pub trait RecordSink {
    /// Takes one record; `hash` is the routing hash of its key, and 0 in list state.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn record(&mut self, hash: u64, bytes: &[u8]) -> Result<()>;
}

/// Writes the records of one state, on the writer's thread.
pub type EncodeState = Box<dyn FnOnce(&mut dyn RecordSink) -> Result<()> + Send>;

/// One named state of an operator instance.
pub struct StateSnapshot {
    /// The name, unique in the operator.
    pub name: String,
    /// What the records hold, as text. A restore refuses state of another schema.
    pub schema: String,
    /// How the records are shared out.
    pub kind: StateKind,
    /// Writes the records.
    pub encode: EncodeState,
}

/// The state of one operator instance at one checkpoint.
#[derive(Default)]
pub struct Snapshot {
    states: Vec<StateSnapshot>,
}

impl Snapshot {
    /// An empty snapshot.
    pub fn new() -> Self {
        Snapshot::default()
    }

    /// Adds a keyed state.
    pub fn keyed(
        &mut self,
        name: impl Into<String>,
        schema: impl Into<String>,
        encode: impl FnOnce(&mut dyn RecordSink) -> Result<()> + Send + 'static,
    ) {
        self.put(
            name.into(),
            schema.into(),
            StateKind::Keyed,
            Box::new(encode),
        );
    }

    /// Adds a list state.
    pub fn list(
        &mut self,
        name: impl Into<String>,
        schema: impl Into<String>,
        records: Vec<Vec<u8>>,
    ) {
        let encode = move |sink: &mut dyn RecordSink| {
            records.iter().try_for_each(|record| sink.record(0, record))
        };
        self.put(
            name.into(),
            schema.into(),
            StateKind::List,
            Box::new(encode),
        );
    }

    /// Adds a list state whose records are made on the writer's thread.
    pub fn list_deferred(
        &mut self,
        name: impl Into<String>,
        schema: impl Into<String>,
        encode: impl FnOnce(&mut dyn RecordSink) -> Result<()> + Send + 'static,
    ) {
        self.put(
            name.into(),
            schema.into(),
            StateKind::List,
            Box::new(encode),
        );
    }

    fn put(&mut self, name: String, schema: String, kind: StateKind, encode: EncodeState) {
        debug_assert!(
            self.states.iter().all(|state| state.name != name),
            "state names are unique in an operator"
        );
        self.states.push(StateSnapshot {
            name,
            schema,
            kind,
            encode,
        });
    }

    /// The states, in the order in which they were put.
    pub fn into_states(self) -> Vec<StateSnapshot> {
        self.states
    }
}

/// Where the states of one operator are read from.
pub trait StateSource {
    /// Calls `each` with the hash and the bytes of every record of the state `name` that belongs to this instance.
    ///
    /// # Errors
    /// When the state cannot be read, or `each` fails.
    fn read(&self, name: &str, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()>;

    /// The schema text the state `name` was written with; `None` when there is no such state. Asking for it claims
    /// the state.
    fn schema(&self, name: &str) -> Option<&str>;

    /// Refuses states that nobody has asked for.
    ///
    /// # Errors
    /// `checkpoint.incompatible`, naming them.
    fn check_claimed(&self) -> Result<()> {
        Ok(())
    }
}

/// The state of an earlier run, as one operator instance sees it.
pub struct Restore {
    source: Box<dyn StateSource>,
}

impl Restore {
    /// Reads from `source`.
    pub fn new(source: impl StateSource + 'static) -> Self {
        Restore {
            source: Box::new(source),
        }
    }

    /// Refuses states that the operator has not asked for: it would lose them. Called after the operator has restored.
    ///
    /// # Errors
    /// `checkpoint.incompatible`, unless the job allows unclaimed state.
    pub fn check_claimed(&self) -> Result<()> {
        self.source.check_claimed()
    }

    /// True when there is a state of this name.
    pub fn has(&self, name: &str) -> bool {
        self.source.schema(name).is_some()
    }

    /// The schema text the state was written with.
    pub fn schema(&self, name: &str) -> Option<&str> {
        self.source.schema(name)
    }

    /// Calls `each` with the hash and the bytes of each record of this instance; none when there is no such state.
    ///
    /// # Errors
    /// When the state cannot be read, or `each` fails.
    pub fn read(&self, name: &str, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        if self.has(name) {
            self.source.read(name, &mut each)
        } else {
            Ok(())
        }
    }

    /// All records of a list state.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn list(&self, name: &str) -> Result<Vec<Vec<u8>>> {
        let mut records = Vec::new();
        self.read(name, |_, bytes| {
            records.push(bytes.to_vec());
            Ok(())
        })?;
        Ok(records)
    }
}

/// The states of any number of instances in memory, for tests and for runs without a directory.
#[derive(Clone, Debug, Default)]
pub struct MemoryState {
    states: BTreeMap<String, MemoryEntry>,
}

#[derive(Clone, Debug)]
struct MemoryEntry {
    schema: String,
    kind: StateKind,
    records: Vec<(u64, Vec<u8>)>,
}

impl RecordSink for MemoryEntry {
    fn record(&mut self, hash: u64, bytes: &[u8]) -> Result<()> {
        self.records.push((hash, bytes.to_vec()));
        Ok(())
    }
}

impl MemoryState {
    /// Adds what one instance handed over.
    ///
    /// # Errors
    /// When a state cannot be encoded.
    pub fn add(&mut self, snapshot: Snapshot) -> Result<()> {
        for state in snapshot.into_states() {
            let entry = self
                .states
                .entry(state.name)
                .or_insert_with(|| MemoryEntry {
                    schema: state.schema,
                    kind: state.kind,
                    records: Vec::new(),
                });
            (state.encode)(entry)?;
        }
        Ok(())
    }

    /// What the instance `worker` of `workers` gets back.
    pub fn restore(&self, worker: usize, workers: usize) -> Restore {
        Restore::new(MemorySource {
            state: self.clone(),
            worker,
            workers,
        })
    }
}

struct MemorySource {
    state: MemoryState,
    worker: usize,
    workers: usize,
}

impl StateSource for MemorySource {
    fn read(&self, name: &str, each: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let Some(entry) = self.state.states.get(name) else {
            return Ok(());
        };
        for (hash, bytes) in &entry.records {
            let mine = entry.kind == StateKind::List
                || crate::exchange::worker_of(*hash, self.workers) == self.worker;
            if mine {
                each(*hash, bytes)?;
            }
        }
        Ok(())
    }

    fn schema(&self, name: &str) -> Option<&str> {
        self.state
            .states
            .get(name)
            .map(|entry| entry.schema.as_str())
    }
}

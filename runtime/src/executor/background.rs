//! One thread per process that writes checkpoints, so that workers do not wait for disks.

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};

use crate::checkpoint::{CheckpointKind, CheckpointStorage, CheckpointTarget};
use crate::driver::{Failure, Report, guarded};
use crate::error::{Result, RuntimeError};
use crate::executor::coordinator::{Chore, Completed};
use crate::executor::job::ProcessJobs;
use crate::executor::messages::{AttemptId, Message};
use crate::operator::Snapshot;

/// One operator's part of a checkpoint.
pub(crate) struct WriteSnapshot {
    pub(crate) attempt: AttemptId,
    pub(crate) checkpoint: u64,
    pub(crate) storage: CheckpointStorage,
    pub(crate) target: CheckpointTarget,
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) worker: usize,
    pub(crate) snapshot: Snapshot,
    /// Where the report goes: to the worker that handed the snapshot over.
    pub(crate) reply: Sender<Done>,
}

/// What the thread has done.
pub(crate) enum Done {
    /// A message for the coordinator.
    Message(Message),
    /// The end of a chore of the coordinator.
    Completed(Completed),
}

enum Work {
    Snapshot(Box<WriteSnapshot>),
    Chore(Box<Chore>, Sender<Done>),
}

/// The thread's other end. Clones feed the same thread; it ends when all are dropped.
#[derive(Clone)]
pub(crate) struct Background {
    sender: Sender<Work>,
}

impl Background {
    /// Starts the thread; it wakes the workers of `jobs` when something is done.
    pub(crate) fn start(jobs: Arc<ProcessJobs>) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let thread = std::thread::Builder::new()
            .name("aquifer:checkpoints".to_string())
            .spawn(move || run(&receiver, &jobs))?;
        Ok((Background { sender }, thread))
    }

    pub(crate) fn write(&self, snapshot: WriteSnapshot) {
        // The thread ends only after all senders.
        let _ = self.sender.send(Work::Snapshot(Box::new(snapshot)));
    }

    pub(crate) fn run(&self, chore: Chore, reply: Sender<Done>) {
        let _ = self.sender.send(Work::Chore(Box::new(chore), reply));
    }
}

fn run(work: &Receiver<Work>, jobs: &ProcessJobs) {
    for work in work {
        let answer = match work {
            Work::Snapshot(snapshot) => {
                Some((snapshot.reply.clone(), Done::Message(write(*snapshot))))
            }
            Work::Chore(chore, reply) => {
                do_chore(*chore).map(|completed| (reply, Done::Completed(completed)))
            }
        };
        if let Some((reply, done)) = answer {
            // A worker that is gone needs no answer.
            let _ = reply.send(done);
        }
        jobs.wake();
    }
}

fn write(work: WriteSnapshot) -> Message {
    let WriteSnapshot {
        attempt,
        checkpoint,
        storage,
        target,
        uid,
        name,
        worker,
        snapshot,
        reply: _,
    } = work;
    let report = match guarded(|| storage.write_operator(&target, &uid, &name, worker, snapshot)) {
        Ok(ack) => Report::Snapshot { checkpoint, ack },
        Err(error) => {
            let failure = Failure::from(&RuntimeError::operator(name, uid, worker, error));
            Report::SnapshotFailed {
                checkpoint,
                failure,
            }
        }
    };
    Message::Report {
        attempt,
        worker,
        report,
    }
}

fn do_chore(chore: Chore) -> Option<Completed> {
    match chore {
        Chore::Complete {
            attempt,
            checkpoint,
            storage,
            target,
            epoch,
            fingerprint,
            acks,
            retained,
        } => {
            let complete = || -> Result<_> {
                let manifest = storage.complete(&target, epoch, fingerprint, acks)?;
                if let Err(error) = storage.discard_older(retained) {
                    tracing::warn!(
                        "checkpoint {checkpoint} is complete, but older ones cannot be deleted: {error}"
                    );
                }
                Ok((target.folder.clone(), manifest.size_bytes()))
            };
            Some(Completed {
                attempt,
                is_automatic: target.kind == CheckpointKind::Checkpoint,
                checkpoint,
                result: complete(),
            })
        }
        Chore::Abort { storage, target } => {
            if let Err(error) = storage.abort(&target) {
                tracing::warn!("cannot remove an unfinished checkpoint: {error}");
            }
            None
        }
    }
}

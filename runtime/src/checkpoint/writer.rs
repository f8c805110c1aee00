//! The thread that writes checkpoint files, one per process, so that workers do not wait for disks.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::{CheckpointError, CheckpointStorage, CheckpointTarget, OperatorAck};
use crate::error::{Result, RuntimeError};
use crate::operator::Snapshot;

/// One operator instance's states, to be written.
pub struct WriteTask {
    /// Where the checkpoints of the job live.
    pub storage: Arc<CheckpointStorage>,
    /// The checkpoint.
    pub target: CheckpointTarget,
    /// The operator's uid.
    pub uid: String,
    /// The operator's name.
    pub operator: String,
    /// Index of the worker.
    pub worker: usize,
    /// The states.
    pub snapshot: Snapshot,
    /// Called on the writer thread with the outcome, exactly once.
    pub done: Box<dyn FnOnce(Result<OperatorAck>) + Send>,
}

impl fmt::Debug for WriteTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WriteTask(checkpoint {}, operator '{}', worker {})",
            self.target.id, self.uid, self.worker
        )
    }
}

/// The writer thread. Dropping it waits until everything submitted is written.
#[derive(Debug)]
pub struct CheckpointWriter {
    /// Taken at the drop.
    queue: Option<Sender<WriteTask>>,
    thread: Option<JoinHandle<()>>,
}

impl CheckpointWriter {
    /// Starts the thread.
    ///
    /// # Errors
    /// `checkpoint.writer_ended` when the system gives no thread.
    pub fn start() -> Result<Self> {
        let (queue, tasks) = unbounded();
        let thread = thread::Builder::new()
            .name("checkpoint-writer".to_owned())
            .spawn(move || run(&tasks))
            .map_err(|_| CheckpointError::WriterEnded)?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues `task`; tasks are written in the order of their submission.
    ///
    /// # Errors
    /// `checkpoint.writer_ended`; then `task.done` is not called.
    pub fn submit(&self, task: WriteTask) -> Result<()> {
        match &self.queue {
            Some(queue) if queue.send(task).is_ok() => Ok(()),
            _ => Err(CheckpointError::WriterEnded.into()),
        }
    }
}

impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        self.queue = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        // The last handle may be dropped by a task's callback, on the writer thread itself.
        if thread.thread().id() != thread::current().id() && thread.join().is_err() {
            tracing::error!("the checkpoint writer panicked in a callback");
        }
    }
}

fn run(tasks: &Receiver<WriteTask>) {
    for task in tasks {
        let WriteTask {
            storage,
            target,
            uid,
            operator,
            worker,
            snapshot,
            done,
        } = task;
        // The encoding closures are code of operators, so their panics are reported, not spread.
        let result = catch_unwind(AssertUnwindSafe(|| {
            storage.write_operator(&target, &uid, &operator, worker, snapshot)
        }))
        .unwrap_or_else(|panic| Err(encoding_panicked(&uid, panic.as_ref())));
        done(result.map_err(|cause| RuntimeError::operator(operator, uid, worker, cause)));
    }
}

fn encoding_panicked(uid: &str, panic: &(dyn Any + Send)) -> RuntimeError {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)");
    CheckpointError::Encode {
        uid: uid.to_owned(),
        state: "(one of its states)".to_owned(),
        reason: format!("panicked: {message}"),
    }
    .into()
}

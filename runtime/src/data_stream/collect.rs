//! Hands a stream's values to the caller of the job.
//!
//! All values go to worker 0, so they arrive in process 0; in other processes the iterator is empty. Values of an
//! epoch are handed over when the epoch closes. A job that takes checkpoints hands them over when the checkpoint that
//! covers them is complete, so that a restart neither repeats nor loses any.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError};

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::config::options;
use crate::data_stream::DataStream;
use crate::error::{Result, RuntimeError};
use crate::exchange::Exchange;
use crate::executor::JobClient;
use crate::operator::{EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use crate::transformation::{Transformation, TransformationId};

/// How many epochs may wait for the reader before the job is held back.
const WAITING_BATCHES: usize = 16;

const UNCOMMITTED: &str = "uncommitted";

struct CollectOperator<T> {
    sender: Sender<Vec<T>>,
    /// Hand over by checkpoint, not by epoch.
    transactional: bool,
    /// The number of the last snapshot whose values were handed over, in any attempt of this program.
    delivered: Arc<AtomicU64>,
    /// The number of the last snapshot; 0 before the first.
    sequence: u64,
    current: Vec<T>,
    /// What waits for its checkpoint.
    prepared: Vec<T>,
    /// What the reader may have, with the number of its snapshot.
    ready: VecDeque<(u64, Vec<T>)>,
}

impl<T: StreamData> CollectOperator<T> {
    /// True when the reader has taken, or will take, all that is ready.
    fn hand_over(&mut self) -> bool {
        while let Some((sequence, values)) = self.ready.pop_front() {
            match self.sender.try_send(values) {
                Ok(()) => {
                    self.delivered.fetch_max(sequence.max(1), Ordering::SeqCst);
                }
                Err(TrySendError::Full(values)) => {
                    self.ready.push_front((sequence, values));
                    return false;
                }
                // The reader is gone: the job is being cancelled.
                Err(TrySendError::Disconnected(_)) => (),
            }
        }
        true
    }

    fn make_ready(&mut self, values: Vec<T>) {
        if !values.is_empty() {
            self.ready.push_back((self.sequence, values));
        }
    }
}

impl<T: StreamData> EpochOperator for CollectOperator<T> {
    fn open(&mut self, _context: &OperatorContext) -> Result<()> {
        if !self.transactional && self.delivered.load(Ordering::SeqCst) > 0 {
            return Err(RuntimeError::user(
                "the job was restarted after results had been handed over, which would repeat them; \
                 set 'execution.checkpointing.dir' and 'execution.checkpointing.interval' to collect exactly once",
            ));
        }
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        for record in state.list(UNCOMMITTED)? {
            let (sequence, values): (u64, Vec<T>) =
                bincode::deserialize(&record).map_err(RuntimeError::user)?;
            self.sequence = sequence;
            // The checkpoint is complete, so these values count; they are new unless the commit came through.
            if self.delivered.load(Ordering::SeqCst) < sequence {
                self.make_ready(values);
            }
        }
        Ok(())
    }

    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        self.current
            .extend(batch.into_data::<StreamBatch<T>>()?.into_parts().0);
        Ok(())
    }

    fn end_epoch(&mut self, _output: &mut Output) -> Result<EpochEnd> {
        if !self.transactional {
            let current = std::mem::take(&mut self.current);
            self.make_ready(current);
        }
        Ok(if self.hand_over() {
            EpochEnd::Done
        } else {
            EpochEnd::Pending
        })
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.sequence += 1;
        self.prepared.append(&mut self.current);
        let record =
            bincode::serialize(&(self.sequence, &self.prepared)).map_err(RuntimeError::user)?;
        snapshot.list(UNCOMMITTED, std::any::type_name::<T>(), vec![record]);
        Ok(())
    }

    fn commit(&mut self, _checkpoint: u64) -> Result<()> {
        let prepared = std::mem::take(&mut self.prepared);
        self.make_ready(prepared);
        // The next checkpoint waits for this one, and so must the worker while the reader is slower than checkpoints.
        while !self.hand_over() {
            std::thread::yield_now();
        }
        Ok(())
    }
}

/// The values of a stream, as the job makes them. Ends with the job; an error is the last item.
///
/// Dropping it before the end cancels the job.
pub struct StreamIterator<T> {
    client: JobClient,
    receiver: Receiver<Vec<T>>,
    current: std::vec::IntoIter<T>,
    ended: bool,
}

impl<T> StreamIterator<T> {
    fn new(client: JobClient, receiver: Receiver<Vec<T>>) -> Self {
        StreamIterator {
            client,
            receiver,
            current: Vec::new().into_iter(),
            ended: false,
        }
    }

    /// The job.
    pub fn job_client(&self) -> &JobClient {
        &self.client
    }
}

impl<T> Iterator for StreamIterator<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(value) = self.current.next() {
                return Some(Ok(value));
            }
            if self.ended {
                return None;
            }
            match self.receiver.recv_timeout(POLL) {
                Ok(values) => self.current = values.into_iter(),
                // The graph, and with it a sender, lives as long as the client: the job's end is what counts.
                Err(_) if self.client.status().is_terminal() => match self.receiver.try_recv() {
                    Ok(values) => self.current = values.into_iter(),
                    Err(_) => {
                        self.ended = true;
                        if let Err(error) = self.client.await_result() {
                            return Some(Err(error));
                        }
                    }
                },
                Err(_) => (),
            }
        }
    }
}

/// How often the end of the job is looked for while no values come.
const POLL: std::time::Duration = std::time::Duration::from_millis(2);

impl<T> Drop for StreamIterator<T> {
    fn drop(&mut self) {
        if !self.ended && !self.client.status().is_terminal() {
            // First nobody reads any more: a worker that waits for the reader could not take the request.
            self.receiver = crossbeam_channel::never();
            // A job that cannot be cancelled any more has ended.
            let _ = self.client.cancel();
        }
    }
}

impl<T: StreamData> DataStream<T> {
    /// Runs the job, with all sinks added before, and hands this stream's values to the caller as they come. They
    /// arrive in process 0.
    ///
    /// # Errors
    /// `graph.*` when the job cannot be built; the iterator's last item tells how the job failed.
    pub fn execute_and_collect(&self) -> Result<StreamIterator<T>> {
        let (sink, receiver) = self.collect_sink()?;
        self.environment().attach_sinks([sink]);
        let client = self.environment().execute_async("Collect")?;
        Ok(StreamIterator::new(client, receiver))
    }

    /// As [`execute_and_collect`](Self::execute_and_collect), as a job of this stream alone: sinks added before keep
    /// waiting for their job.
    ///
    /// # Errors
    /// As there.
    pub fn collect_alone(&self, job_name: &str) -> Result<StreamIterator<T>> {
        let (sink, receiver) = self.collect_sink()?;
        let client = self.environment().execute_sinks_async(job_name, &[sink])?;
        Ok(StreamIterator::new(client, receiver))
    }

    /// Adds the sink behind [`execute_and_collect`](Self::execute_and_collect) without making it part of a job.
    fn collect_sink(&self) -> Result<(TransformationId, Receiver<Vec<T>>)> {
        let env = self.environment();
        let config = env.configuration();
        let transactional = config.get(&options::CHECKPOINTING_DIR)?.is_some()
            && config.get(&options::CHECKPOINTING_INTERVAL)?.is_some();
        let (sender, receiver) = crossbeam_channel::bounded(WAITING_BATCHES);
        let delivered = Arc::new(AtomicU64::new(0));
        let make = move || -> Box<dyn EpochOperator> {
            Box::new(CollectOperator::<T> {
                sender: sender.clone(),
                transactional,
                delivered: Arc::clone(&delivered),
                sequence: 0,
                current: Vec::new(),
                prepared: Vec::new(),
                ready: VecDeque::new(),
            })
        };
        let edges = self.edges_by(0, &Exchange::Global);
        let sink = Transformation::operator("Collect", edges, Vec::new(), Arc::new(make));
        let sink = env.add(sink.without_event_time().with_parallelism(1));
        Ok((sink, receiver))
    }

    /// Runs the job until `n` values have come, then cancels it.
    ///
    /// # Errors
    /// As [`execute_and_collect`](Self::execute_and_collect), and how the job failed before that.
    pub fn execute_and_collect_n(&self, n: usize) -> Result<Vec<T>> {
        self.execute_and_collect()?.take(n).collect()
    }
}

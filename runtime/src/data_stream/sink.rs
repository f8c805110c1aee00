//! Where streams end.

use std::sync::Arc;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::data_stream::DataStream;
use crate::environment::StreamExecutionEnvironment;
use crate::error::Result;
use crate::operator::{EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use crate::transformation::{Transformation, TransformationId};

/// Takes the values of a stream to the outside.
pub trait Sink: Send + Sync + 'static {
    /// What it takes.
    type Item: StreamData;

    /// Makes the writer of one worker.
    ///
    /// # Errors
    /// Fails the job.
    fn create_writer(&self, context: &OperatorContext) -> Result<Box<dyn SinkWriter<Self::Item>>>;
}

/// Writes the values of one worker.
///
/// **Exactly once** takes two phases: `prepare` makes everything written so far durable but not visible, and says
/// what to make visible; that is kept in the checkpoint. `commit` makes it visible once the checkpoint is complete.
/// After a crash `restore` is given what was prepared and must commit it, unless that was done already. Jobs without
/// checkpoints prepare and commit once, at their end.
pub trait SinkWriter<T>: 'static {
    /// Takes values of one epoch, in order.
    ///
    /// # Errors
    /// Fails the job.
    fn write(&mut self, values: Vec<T>) -> Result<()>;

    /// All values of the epoch are written. [`EpochEnd::Pending`] holds the epoch, and so the sources.
    ///
    /// # Errors
    /// Fails the job.
    fn end_epoch(&mut self, epoch: u64) -> Result<EpochEnd> {
        let _ = epoch;
        Ok(EpochEnd::Done)
    }

    /// First phase. Answers everything that is prepared and not known to be committed.
    ///
    /// # Errors
    /// Fails the job.
    fn prepare(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// Second phase, for all that was prepared for `checkpoint` or before. Must be repeatable.
    ///
    /// # Errors
    /// Fails the job.
    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        let _ = checkpoint;
        Ok(())
    }

    /// What writers had prepared for the checkpoint that the job goes on from: the share of this worker.
    ///
    /// # Errors
    /// Fails the job.
    fn restore(&mut self, prepared: Vec<Vec<u8>>) -> Result<()> {
        let _ = prepared;
        Ok(())
    }
}

const PREPARED: &str = "prepared";

struct SinkOperator<S: Sink> {
    sink: Arc<S>,
    writer: Option<Box<dyn SinkWriter<S::Item>>>,
    share: (usize, usize),
}

impl<S: Sink> SinkOperator<S> {
    fn writer(&mut self) -> &mut dyn SinkWriter<S::Item> {
        self.writer
            .as_mut()
            .expect("the driver opens an operator before it uses it")
            .as_mut()
    }
}

impl<S: Sink> EpochOperator for SinkOperator<S> {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.share = (context.worker, context.parallelism);
        self.writer = Some(self.sink.create_writer(context)?);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let (worker, workers) = self.share;
        let prepared = state
            .list(PREPARED)?
            .into_iter()
            .skip(worker)
            .step_by(workers)
            .collect();
        self.writer().restore(prepared)
    }

    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        self.writer()
            .write(batch.into_data::<StreamBatch<S::Item>>()?.into_parts().0)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        self.writer().end_epoch(output.epoch())
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let prepared = self.writer().prepare()?;
        snapshot.list(PREPARED, "bytes", prepared);
        Ok(())
    }

    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        self.writer().commit(checkpoint)
    }
}

/// A sink that was added to the environment.
pub struct DataStreamSink {
    env: StreamExecutionEnvironment,
    transformation: TransformationId,
}

impl DataStreamSink {
    /// Sets the stable id, as [`DataStream::uid`].
    pub fn uid(self, uid: impl Into<String>) -> Self {
        let uid = uid.into();
        self.env
            .update(self.transformation, |sink| sink.uid = Some(uid));
        self
    }

    /// Sets the name shown in plans, messages and metrics.
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.env
            .update(self.transformation, |sink| sink.name = name);
        self
    }

    /// Runs the sink on the first `parallelism` workers; on all when there are fewer.
    pub fn set_parallelism(self, parallelism: usize) -> Self {
        self.env.update(self.transformation, |sink| {
            sink.parallelism = Some(parallelism);
        });
        self
    }
}

impl<T: StreamData> DataStream<T> {
    /// Ends the stream in `sink`.
    pub fn sink_to<S: Sink<Item = T>>(&self, sink: S) -> DataStreamSink {
        let sink = Arc::new(sink);
        self.end_in("Sink", move || {
            Box::new(SinkOperator {
                sink: Arc::clone(&sink),
                writer: None,
                share: (0, 1),
            })
        })
    }

    /// Ends the stream in a function that sees every value, on the worker where it is.
    pub fn for_each(&self, f: impl Fn(T) + Send + Sync + 'static) -> DataStreamSink {
        struct Each<T>(Arc<dyn Fn(T) + Send + Sync>);
        impl<T: StreamData> EpochOperator for Each<T> {
            fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
                batch
                    .into_data::<StreamBatch<T>>()?
                    .into_parts()
                    .0
                    .into_iter()
                    .for_each(&*self.0);
                Ok(())
            }
        }
        let f: Arc<dyn Fn(T) + Send + Sync> = Arc::new(f);
        self.end_in("ForEach", move || Box::new(Each(Arc::clone(&f))))
    }

    /// Ends the stream in an operator.
    pub(crate) fn end_in(
        &self,
        name: &str,
        make: impl Fn() -> Box<dyn EpochOperator> + Send + Sync + 'static,
    ) -> DataStreamSink {
        let transformation =
            Transformation::operator(name, self.edges(0), Vec::new(), Arc::new(make))
                .without_event_time();
        let transformation = self.environment().add_sink(transformation);
        DataStreamSink {
            env: self.environment().clone(),
            transformation,
        }
    }
}

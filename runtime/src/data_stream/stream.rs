//! [`DataStream`] and its stateless steps.
//!
//! Each method is a typed shell: it adds one transformation and returns a handle to its output. The code that runs
//! per row is the closure in the step; everything around it is compiled once, in the runtime.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::batch::{Batch, StreamBatch, StreamCodec, StreamData};
use crate::environment::StreamExecutionEnvironment;
use crate::error::{Result, RuntimeError};
use crate::exchange::Exchange;
use crate::operator::OperatorContext;
use crate::transformation::{
    Edge, OutputPort, Step, StepFactory, Transformation, TransformationId,
};

/// A stream of values of one type. Cheap to clone; using it twice reads it twice, it does not run twice.
#[must_use = "a stream does nothing until it has a sink and the job is executed"]
pub struct DataStream<T> {
    env: StreamExecutionEnvironment,
    /// One part per stream of a union.
    parts: Vec<(OutputPort, Exchange)>,
    values: PhantomData<fn() -> T>,
}

impl<T> Clone for DataStream<T> {
    fn clone(&self) -> Self {
        DataStream {
            env: self.env.clone(),
            parts: self.parts.clone(),
            values: PhantomData,
        }
    }
}

impl<T: StreamData> DataStream<T> {
    /// The stream of one output of a transformation. The output must carry `StreamBatch<T>`.
    pub fn from_output(
        env: &StreamExecutionEnvironment,
        transformation: TransformationId,
        port: usize,
    ) -> Self {
        let parts = vec![(
            OutputPort {
                transformation,
                port,
            },
            Exchange::Forward,
        )];
        DataStream {
            env: env.clone(),
            parts,
            values: PhantomData,
        }
    }

    /// How many workers run an operator that takes this stream's values where they are; `None`: as many as the job.
    pub(crate) fn parallelism_in_place(&self) -> Option<usize> {
        match self.parts.as_slice() {
            [(from, Exchange::Forward)] => {
                self.env.inspect(from.transformation, |transformation| {
                    transformation.parallelism
                })
            }
            _ => None,
        }
    }

    /// The environment the stream belongs to.
    pub fn environment(&self) -> &StreamExecutionEnvironment {
        &self.env
    }

    /// The edges that feed the stream into the logical input `input` of a transformation.
    pub fn edges(&self, input: usize) -> Vec<Edge> {
        self.parts
            .iter()
            .map(|(from, exchange)| Edge::new(*from, input, exchange.clone()))
            .collect()
    }

    /// As [`edges`](Self::edges), shared out in another way.
    pub fn edges_by(&self, input: usize, exchange: &Exchange) -> Vec<Edge> {
        self.parts
            .iter()
            .map(|(from, _)| Edge::new(*from, input, exchange.clone()))
            .collect()
    }

    /// The transformation that makes this stream; the first one of a union.
    pub fn transformation(&self) -> TransformationId {
        self.parts[0].0.transformation
    }

    /// The stable id of the operator that makes this stream, if the user gave it one.
    pub fn uid_of(&self) -> Option<String> {
        self.env.inspect(self.transformation(), |transformation| {
            transformation.uid.clone()
        })
    }

    fn change(self, change: impl FnOnce(&mut Transformation)) -> Self {
        self.env.update(self.transformation(), change);
        self
    }

    /// Sets the stable id of the operator that makes this stream: the name under which its state is found again.
    /// Unique in the job.
    pub fn uid(self, uid: impl Into<String>) -> Self {
        let uid = uid.into();
        self.change(|transformation| transformation.uid = Some(uid))
    }

    /// Sets the name shown in plans, messages and metrics.
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.change(|transformation| transformation.name = name)
    }

    /// Runs the operator that makes this stream on the first `parallelism` workers; on all when there are fewer.
    pub fn set_parallelism(self, parallelism: usize) -> Self {
        self.change(|transformation| transformation.parallelism = Some(parallelism))
    }

    /// Keeps the step that makes this stream apart from its neighbours.
    pub fn disable_chaining(self) -> Self {
        self.change(|transformation| transformation.chaining = false)
    }

    /// Adds a stateless step from batches to batches.
    pub(crate) fn step<R, F>(&self, name: &str, make: F) -> DataStream<R>
    where
        R: StreamData,
        F: Fn(&OperatorContext) -> Result<Step> + Send + Sync + 'static,
    {
        let factory: StepFactory = Arc::new(make);
        let transformation = Transformation::step(
            name,
            self.edges(0),
            Arc::new(StreamCodec::<R>::new()),
            factory,
        );
        DataStream::from_output(&self.env, self.env.add(transformation), 0)
    }

    fn on_rows<R, F>(&self, name: &str, apply: F) -> DataStream<R>
    where
        R: StreamData,
        F: Fn(StreamBatch<T>) -> Result<StreamBatch<R>> + Send + Sync + 'static,
    {
        let apply = Arc::new(apply);
        self.step(name, move |_context| {
            let apply = Arc::clone(&apply);
            Ok(Box::new(move |batch: Batch| {
                Ok(Batch::new(apply(batch.into_data::<StreamBatch<T>>()?)?))
            }))
        })
    }

    /// Replaces each value by `f` of it. Timestamps stay.
    pub fn map<R: StreamData>(&self, f: impl Fn(T) -> R + Send + Sync + 'static) -> DataStream<R> {
        self.on_rows("Map", move |batch| {
            let (values, timestamps) = batch.into_parts();
            Ok(StreamBatch::from_parts(
                values.into_iter().map(&f).collect(),
                timestamps,
            ))
        })
    }

    /// As [`map`](Self::map) for a function that can fail; an error fails the job with its message.
    pub fn try_map<R, E>(
        &self,
        f: impl Fn(T) -> std::result::Result<R, E> + Send + Sync + 'static,
    ) -> DataStream<R>
    where
        R: StreamData,
        E: std::fmt::Display,
    {
        self.on_rows("TryMap", move |batch| {
            let (values, timestamps) = batch.into_parts();
            let values = values
                .into_iter()
                .map(|value| f(value).map_err(RuntimeError::user));
            Ok(StreamBatch::from_parts(
                values.collect::<Result<Vec<R>>>()?,
                timestamps,
            ))
        })
    }

    /// Keeps the values for which `f` is true.
    pub fn filter(&self, f: impl Fn(&T) -> bool + Send + Sync + 'static) -> DataStream<T> {
        self.on_rows("Filter", move |batch| {
            let (mut values, timestamps) = batch.into_parts();
            if timestamps.is_empty() {
                values.retain(&f);
                return Ok(StreamBatch::from_values(values));
            }
            let kept = values
                .into_iter()
                .zip(timestamps)
                .filter(|(value, _)| f(value));
            let (values, timestamps) = kept.unzip();
            Ok(StreamBatch::from_parts(values, timestamps))
        })
    }

    /// Replaces each value by any number of others. They take over its timestamp.
    pub fn flat_map<R, I>(&self, f: impl Fn(T) -> I + Send + Sync + 'static) -> DataStream<R>
    where
        R: StreamData,
        I: IntoIterator<Item = R>,
    {
        self.on_rows("FlatMap", move |batch| {
            let (values, timestamps) = batch.into_parts();
            if timestamps.is_empty() {
                return Ok(StreamBatch::from_values(
                    values.into_iter().flat_map(&f).collect(),
                ));
            }
            let mut out = StreamBatch::with_capacity(values.len());
            for (value, timestamp) in values.into_iter().zip(timestamps) {
                f(value)
                    .into_iter()
                    .for_each(|result| out.push_at(result, timestamp));
            }
            Ok(out)
        })
    }

    /// All values of this stream and of `others`.
    pub fn union<'a>(&self, others: impl IntoIterator<Item = &'a DataStream<T>>) -> DataStream<T> {
        let mut union = self.clone();
        for other in others {
            union.parts.extend(other.parts.iter().cloned());
        }
        union
    }

    fn exchanged(&self, exchange: &Exchange) -> DataStream<T> {
        let mut stream = self.clone();
        stream
            .parts
            .iter_mut()
            .for_each(|(_, own)| *own = exchange.clone());
        stream
    }

    /// Gives batches to the workers in turn.
    pub fn rebalance(&self) -> DataStream<T> {
        self.exchanged(&Exchange::Rebalance)
    }

    /// Spreads values over the workers without regard to their content. The choice depends on a value's position in
    /// its worker's stream, so that a run can be repeated.
    pub fn shuffle(&self) -> DataStream<T> {
        self.exchanged(&Exchange::Partition(Arc::new(|| {
            Box::new(crate::exchange::ShufflePartitioner::<T>::new())
        })))
    }

    /// Gives every value to all workers.
    pub fn broadcast(&self) -> DataStream<T> {
        self.exchanged(&Exchange::Broadcast)
    }

    /// Gives all values to worker 0.
    pub fn global(&self) -> DataStream<T> {
        self.exchanged(&Exchange::Global)
    }

    /// Gives each value to the worker `partition(key(value), workers)`; a result beyond the last worker wraps.
    pub fn partition_custom<K>(
        &self,
        partition: impl Fn(&K, usize) -> usize + Clone + Send + Sync + 'static,
        key: impl Fn(&T) -> K + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.exchanged(&Exchange::by_target(move |value: &T, workers| {
            partition(&key(value), workers)
        }))
    }
}

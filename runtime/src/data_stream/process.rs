//! [`DataStream`] methods that add one operator: process functions, side outputs, timestamps.

use std::sync::Arc;

use crate::batch::{StreamCodec, StreamData};
use crate::data_stream::DataStream;
use crate::error::{GraphError, Result};
use crate::operator::{
    EpochOperator, OutputTag, ProcessFunction, ProcessOperator, SideOutputPorts,
    TimestampsAndWatermarksOperator,
};
use crate::time::WatermarkStrategy;
use crate::transformation::{Edge, OperatorFactory, Transformation};

impl<T: StreamData> DataStream<T> {
    /// Adds an operator whose only output, but for side outputs, is a stream of `R`.
    pub(crate) fn from_operator<O: EpochOperator>(
        input: &DataStream<impl StreamData>,
        name: &str,
        edges: Vec<Edge>,
        change: impl FnOnce(Transformation) -> Transformation,
        make: impl Fn() -> O + Send + Sync + 'static,
    ) -> DataStream<T> {
        let factory: OperatorFactory = Arc::new(move || Box::new(make()));
        let outputs = vec![Arc::new(StreamCodec::<T>::new()) as _];
        let transformation = change(Transformation::operator(name, edges, outputs, factory));
        let env = input.environment();
        DataStream::from_output(env, env.add(transformation), 0)
    }

    /// Gives each value to a function that may emit any number of others, to the main and to side outputs.
    pub fn process<O, F>(&self, function: F) -> DataStream<O>
    where
        O: StreamData,
        F: ProcessFunction<T, O>,
    {
        let ports = SideOutputPorts::new();
        let with_ports = ports.clone();
        DataStream::from_operator(
            self,
            "Process",
            self.edges(0),
            |transformation| transformation.with_side_outputs(with_ports),
            move || ProcessOperator::<T, O, F>::new(function.clone(), &ports),
        )
    }

    /// Gives records timestamps and makes the watermark for all that follows, instead of that of the sources. Runs on
    /// the workers that make the stream, so that what is late does not depend on how many others there are.
    pub fn assign_timestamps_and_watermarks(
        &self,
        strategy: WatermarkStrategy<T>,
    ) -> DataStream<T> {
        let parallelism = self.parallelism_in_place();
        let assigning = move |mut transformation: Transformation| {
            transformation.parallelism = parallelism;
            transformation.assigning_watermarks()
        };
        DataStream::from_operator(
            self,
            "Timestamps/Watermarks",
            self.edges(0),
            assigning,
            move || TimestampsAndWatermarksOperator::new(strategy.clone()),
        )
    }

    /// The values that the operator which makes this stream sends to the side output `tag`.
    ///
    /// # Errors
    /// `graph.operator` when that operator has no side outputs: process functions and windows do.
    #[doc(alias = "getSideOutput")]
    pub fn side_output<X: StreamData>(&self, tag: &OutputTag<X>) -> Result<DataStream<X>> {
        let mut port = None;
        self.environment()
            .update(self.transformation(), |transformation| {
                let Some(ports) = &transformation.side_outputs else {
                    return;
                };
                let (at, is_new) = ports.port(tag);
                if is_new {
                    transformation
                        .outputs
                        .push(Arc::new(StreamCodec::<X>::new()));
                }
                port = Some(at);
            });
        let operator = || {
            self.environment()
                .inspect(self.transformation(), |transformation| {
                    transformation.name.clone()
                })
        };
        let port = port.ok_or_else(|| GraphError::Operator {
            operator: operator(),
            reason: format!(
                "it has no side output '{}'; call side_output on the stream that a process function or a window makes",
                tag.id()
            ),
        })?;
        Ok(DataStream::from_output(
            self.environment(),
            self.transformation(),
            port,
        ))
    }
}

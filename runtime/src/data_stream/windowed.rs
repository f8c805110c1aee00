//! [`WindowedStream`]: a keyed stream whose records are grouped into windows.

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::StreamData;
use crate::data_stream::keyed::{extreme_field, extreme_record, sum_by};
use crate::data_stream::{DataStream, KeyedStream};
use crate::error::Result;
use crate::operator::{
    AggregateFunction, Collector, LateData, OutputTag, SideOutputPorts, SliceWindowOperator,
    WindowOperator, WindowParts,
};
use crate::state::StateKey;
use crate::window::{
    AggregateElements, Elements, EmitResults, Evicting, Evictor, ProcessWindowFunction,
    ReduceElements, Trigger, WindowAggregation, WindowAssigner, WindowContext,
};

/// Windows per key, made by [`KeyedStream::window`]. One of `reduce`, `aggregate`, `process` and `apply` ends it.
///
/// Results carry the highest timestamp of their window.
#[must_use = "windows do nothing until they are reduced, aggregated or processed"]
pub struct WindowedStream<K, T, A, R>
where
    A: WindowAssigner<T>,
{
    keyed: KeyedStream<K, T>,
    assigner: A,
    trigger: R,
    /// The trigger is the assigner's own.
    is_default_trigger: bool,
    evictor: Option<Arc<dyn Evictor<T, A::Window>>>,
    late_data: LateData<T>,
}

impl<K, T, A> WindowedStream<K, T, A, A::DefaultTrigger>
where
    T: StreamData,
    A: WindowAssigner<T>,
{
    pub(crate) fn new(keyed: KeyedStream<K, T>, assigner: A) -> Self {
        let trigger = assigner.default_trigger();
        WindowedStream {
            keyed,
            assigner,
            trigger,
            is_default_trigger: true,
            evictor: None,
            late_data: LateData::default(),
        }
    }
}

impl<K, T, A, R> WindowedStream<K, T, A, R>
where
    K: StateKey,
    T: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
{
    /// Lets another trigger decide when windows fire.
    pub fn trigger<R2: Trigger<T, A::Window>>(self, trigger: R2) -> WindowedStream<K, T, A, R2> {
        WindowedStream {
            keyed: self.keyed,
            assigner: self.assigner,
            trigger,
            is_default_trigger: false,
            evictor: self.evictor,
            late_data: self.late_data,
        }
    }

    /// Removes elements before windows are computed. Windows then keep all their elements.
    pub fn evictor(self, evictor: impl Evictor<T, A::Window>) -> Self {
        self.shared_evictor(Arc::new(evictor))
    }

    pub(crate) fn shared_evictor(mut self, evictor: Arc<dyn Evictor<T, A::Window>>) -> Self {
        self.evictor = Some(evictor);
        self
    }

    /// Keeps event-time windows for this long after the watermark has passed their end: late records fire them again.
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        let millis = i64::try_from(lateness.as_millis()).unwrap_or(i64::MAX);
        self.late_data = self.late_data.with_allowed_lateness(millis);
        self
    }

    /// Sends records that are too late to a side output: `side_output(&tag)` on the result reads it. Without it they
    /// are dropped and counted.
    pub fn side_output_late_data(mut self, tag: &OutputTag<T>) -> Self {
        self.late_data = self.late_data.with_side_output(tag.clone());
        self
    }

    /// Joins the records of each window by `reduce`.
    pub fn reduce(
        &self,
        reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce_with(reduce, EmitResults)
    }

    /// As [`reduce`](Self::reduce), and gives the result to a window function.
    pub fn reduce_with<O: StreamData>(
        &self,
        reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static,
        function: impl ProcessWindowFunction<T, O, K, A::Window>,
    ) -> DataStream<O> {
        self.reduced(
            "WindowReduce",
            move || ReduceElements::new(reduce.clone()),
            function,
        )
    }

    /// Aggregates the records of each window.
    pub fn aggregate<G>(&self, function: G) -> DataStream<G::Output>
    where
        G: AggregateFunction<T> + Clone + Send + Sync,
    {
        self.aggregate_with(function, EmitResults)
    }

    /// As [`aggregate`](Self::aggregate), and gives the result to a window function.
    pub fn aggregate_with<G, O>(
        &self,
        aggregate: G,
        function: impl ProcessWindowFunction<G::Output, O, K, A::Window>,
    ) -> DataStream<O>
    where
        G: AggregateFunction<T> + Clone + Send + Sync,
        O: StreamData,
    {
        self.reduced(
            "WindowAggregate",
            move || AggregateElements::new(aggregate.clone()),
            function,
        )
    }

    /// Gives all records of each window to a function.
    pub fn process<O, P>(&self, function: P) -> DataStream<O>
    where
        O: StreamData,
        P: ProcessWindowFunction<T, O, K, A::Window>,
    {
        match self.evictor.clone() {
            Some(evictor) => self.general(
                "WindowProcess",
                move || Evicting::new(evictor.clone(), Elements::new()),
                function,
            ),
            None => self.general("WindowProcess", Elements::new, function),
        }
    }

    /// Gives all records of each window to a closure: key, window, records, collector.
    pub fn apply<O: StreamData>(
        &self,
        function: impl Fn(&K, &A::Window, &[T], &mut Collector<O>) -> Result<()>
        + Clone
        + Send
        + Sync
        + 'static,
    ) -> DataStream<O> {
        self.process(Apply(function))
    }

    /// The sum of a field per window; the other fields are those of the window's first record.
    pub fn sum<N: AddAssign + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce(sum_by(field))
    }

    /// The minimum of a field per window; the other fields are those of the window's first record.
    pub fn min<N: PartialOrd + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce(extreme_field(field, |new, old| new < old))
    }

    /// The maximum of a field per window; the other fields are those of the window's first record.
    pub fn max<N: PartialOrd + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce(extreme_field(field, |new, old| new > old))
    }

    /// The record with the lowest `field` per window, the first among equals.
    pub fn min_by<N: PartialOrd + 'static>(
        &self,
        field: impl Fn(&T) -> N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce(extreme_record(field, |new, old| new < old))
    }

    /// The record with the highest `field` per window, the first among equals.
    pub fn max_by<N: PartialOrd + 'static>(
        &self,
        field: impl Fn(&T) -> N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.reduce(extreme_record(field, |new, old| new > old))
    }

    /// Windows that keep one value: from slices where the windows allow it.
    fn reduced<C, O, P>(
        &self,
        name: &str,
        aggregation: impl Fn() -> C + Send + Sync + 'static,
        function: P,
    ) -> DataStream<O>
    where
        C: WindowAggregation<T, A::Window>,
        O: StreamData,
        P: ProcessWindowFunction<C::Result, O, K, A::Window>,
    {
        if let Some(evictor) = self.evictor.clone() {
            return self.general(
                name,
                move || Evicting::new(evictor.clone(), aggregation()),
                function,
            );
        }
        let Some(windows) = self.assigner.slicing().filter(|_| self.is_default_trigger) else {
            return self.general(name, aggregation, function);
        };
        let (selector, late_data, ports) = (
            self.keyed.selector(),
            self.late_data.clone(),
            SideOutputPorts::new(),
        );
        let with_ports = ports.clone();
        DataStream::from_operator(
            self.keyed.stream(),
            name,
            self.keyed.keyed_edges(0),
            |transformation| transformation.with_side_outputs(with_ports),
            move || {
                SliceWindowOperator::<K, T, A::Window, O, C, P>::new(
                    selector.clone(),
                    windows,
                    aggregation(),
                    late_data.clone(),
                    function.clone(),
                    ports.clone(),
                )
            },
        )
    }

    fn general<C, O, P>(
        &self,
        name: &str,
        aggregation: impl Fn() -> C + Send + Sync + 'static,
        function: P,
    ) -> DataStream<O>
    where
        C: WindowAggregation<T, A::Window>,
        O: StreamData,
        P: ProcessWindowFunction<C::Result, O, K, A::Window>,
    {
        let (selector, ports) = (self.keyed.selector(), SideOutputPorts::new());
        let (assigner, trigger, late_data) = (
            self.assigner.clone(),
            self.trigger.clone(),
            self.late_data.clone(),
        );
        let with_ports = ports.clone();
        DataStream::from_operator(
            self.keyed.stream(),
            name,
            self.keyed.keyed_edges(0),
            |transformation| transformation.with_side_outputs(with_ports),
            move || {
                let parts = WindowParts {
                    assigner: assigner.clone(),
                    trigger: trigger.clone(),
                    aggregation: aggregation(),
                    late_data: late_data.clone(),
                };
                WindowOperator::<K, T, O, A, R, C, P>::new(
                    selector.clone(),
                    parts,
                    function.clone(),
                    ports.clone(),
                )
            },
        )
    }
}

/// A closure as window function.
#[derive(Clone)]
struct Apply<F>(F);

impl<F, I, O, K, W> ProcessWindowFunction<I, O, K, W> for Apply<F>
where
    F: Fn(&K, &W, &[I], &mut Collector<O>) -> Result<()> + Clone + Send + Sync + 'static,
{
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[I],
        out: &mut Collector<O>,
    ) -> Result<()> {
        (self.0)(key, context.window(), elements, out)
    }
}

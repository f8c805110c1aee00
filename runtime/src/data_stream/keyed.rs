//! [`KeyedStream`]: a stream whose records of one key are together.

use std::ops::AddAssign;
use std::sync::Arc;

use crate::batch::StreamData;
use crate::data_stream::{DataStream, WindowedStream};
use crate::exchange::Exchange;
use crate::operator::{
    KeySelector, KeyedProcessFunction, KeyedProcessOperator, ReduceOperator, SideOutputPorts,
};
use crate::state::StateKey;
use crate::transformation::{Edge, Transformation};
use crate::window::{
    CountEvictor, CountTrigger, GlobalWindow, GlobalWindows, PurgingTrigger, WindowAssigner,
};

/// A stream partitioned by a key: all records of a key are processed by one worker, in the order in which each
/// sender emitted them.
#[must_use = "a stream does nothing until it has a sink and the job is executed"]
pub struct KeyedStream<K, T> {
    stream: DataStream<T>,
    selector: KeySelector<T, K>,
    exchange: Exchange,
}

impl<K, T> Clone for KeyedStream<K, T> {
    fn clone(&self) -> Self {
        KeyedStream {
            stream: self.stream.clone(),
            selector: self.selector.clone(),
            exchange: self.exchange.clone(),
        }
    }
}

impl<T: StreamData> DataStream<T> {
    /// Brings the records of each key together.
    ///
    /// `key` must answer the same for the same record on every worker.
    pub fn key_by<K: StateKey>(
        &self,
        key: impl Fn(&T) -> K + Clone + Send + Sync + 'static,
    ) -> KeyedStream<K, T> {
        KeyedStream {
            stream: self.clone(),
            selector: KeySelector::new(key.clone()),
            exchange: Exchange::by_key(key),
        }
    }
}

impl<K: StateKey, T: StreamData> KeyedStream<K, T> {
    /// The stream without its keys.
    pub fn stream(&self) -> &DataStream<T> {
        &self.stream
    }

    pub(crate) fn selector(&self) -> KeySelector<T, K> {
        self.selector.clone()
    }

    /// The edges of an operator that needs the records of a key together.
    pub(crate) fn keyed_edges(&self, input: usize) -> Vec<Edge> {
        self.stream.edges_by(input, &self.exchange)
    }

    /// Gives each record to a function with state and timers per key.
    pub fn process<O, F>(&self, function: F) -> DataStream<O>
    where
        O: StreamData,
        F: KeyedProcessFunction<K, T, O>,
    {
        let (selector, ports) = (self.selector(), SideOutputPorts::new());
        let with_ports = ports.clone();
        DataStream::from_operator(
            &self.stream,
            "KeyedProcess",
            self.keyed_edges(0),
            |transformation| transformation.with_side_outputs(with_ports),
            move || {
                KeyedProcessOperator::<K, T, O, F>::new(
                    selector.clone(),
                    function.clone(),
                    ports.clone(),
                )
            },
        )
    }

    /// Joins the records of each key by `reduce` and emits the running value for every record.
    ///
    /// `reduce` gets the value so far and the new record.
    pub fn reduce(
        &self,
        reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("Reduce", reduce)
    }

    fn rolling(
        &self,
        name: &str,
        reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        let selector = self.selector();
        DataStream::from_operator(
            &self.stream,
            name,
            self.keyed_edges(0),
            Transformation::without_event_time,
            move || ReduceOperator::new(selector.clone(), reduce.clone()),
        )
    }

    /// The running sum of a field; the other fields are those of the key's first record.
    ///
    /// ```
    /// use aquifer_runtime::StreamExecutionEnvironment;
    ///
    /// # fn main() -> aquifer_runtime::Result<()> {
    /// let env = StreamExecutionEnvironment::create_local(1);
    /// let words = env.from_elements([("a".to_string(), 1), ("b".to_string(), 2), ("a".to_string(), 3)]);
    /// let sums = words.key_by(|word| word.0.clone()).sum(|word| &mut word.1);
    /// let mut rows = sums.execute_and_collect()?.collect::<aquifer_runtime::Result<Vec<_>>>()?;
    /// rows.sort();
    /// assert_eq!(rows, [("a".to_string(), 1), ("a".to_string(), 4), ("b".to_string(), 2)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sum<N: AddAssign + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("Sum", sum_by(field))
    }

    /// The running minimum of a field; the other fields are those of the key's first record.
    pub fn min<N: PartialOrd + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("Min", extreme_field(field, |new, old| new < old))
    }

    /// The running maximum of a field; the other fields are those of the key's first record.
    pub fn max<N: PartialOrd + Clone + 'static>(
        &self,
        field: impl Fn(&mut T) -> &mut N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("Max", extreme_field(field, |new, old| new > old))
    }

    /// The record with the lowest `field` so far, the first among equals.
    pub fn min_by<N: PartialOrd + 'static>(
        &self,
        field: impl Fn(&T) -> N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("MinBy", extreme_record(field, |new, old| new < old))
    }

    /// The record with the highest `field` so far, the first among equals.
    pub fn max_by<N: PartialOrd + 'static>(
        &self,
        field: impl Fn(&T) -> N + Clone + Send + Sync + 'static,
    ) -> DataStream<T> {
        self.rolling("MaxBy", extreme_record(field, |new, old| new > old))
    }

    /// Groups the records of each key into windows.
    pub fn window<A: WindowAssigner<T>>(
        &self,
        assigner: A,
    ) -> WindowedStream<K, T, A, A::DefaultTrigger> {
        WindowedStream::new(self.clone(), assigner)
    }

    /// Windows of `size` records each.
    pub fn count_window(
        &self,
        size: u64,
    ) -> WindowedStream<K, T, GlobalWindows, PurgingTrigger<CountTrigger>> {
        self.window(GlobalWindows::create())
            .trigger(PurgingTrigger::of(CountTrigger::of(size)))
    }

    /// The last `size` records of a key, every `slide` records.
    pub fn count_window_slide(
        &self,
        size: usize,
        slide: u64,
    ) -> WindowedStream<K, T, GlobalWindows, CountTrigger> {
        let evictor: Arc<dyn crate::window::Evictor<T, GlobalWindow>> =
            Arc::new(CountEvictor::of(size));
        self.window(GlobalWindows::create())
            .trigger(CountTrigger::of(slide))
            .shared_evictor(evictor)
    }
}

/// Adds a field of the second record to that of the first.
pub(crate) fn sum_by<T, N: AddAssign + Clone>(
    field: impl Fn(&mut T) -> &mut N + Clone,
) -> impl Fn(T, T) -> T + Clone {
    move |mut sum, mut record| {
        *field(&mut sum) += field(&mut record).clone();
        sum
    }
}

/// Keeps the first record, with the better of the two fields.
pub(crate) fn extreme_field<T, N: Clone>(
    field: impl Fn(&mut T) -> &mut N + Clone,
    is_better: fn(&N, &N) -> bool,
) -> impl Fn(T, T) -> T + Clone {
    move |mut kept, mut record| {
        let new = field(&mut record);
        let old = field(&mut kept);
        if is_better(new, old) {
            *old = new.clone();
        }
        kept
    }
}

/// Keeps the record with the better field, the first among equals.
pub(crate) fn extreme_record<T, N>(
    field: impl Fn(&T) -> N + Clone,
    is_better: fn(&N, &N) -> bool,
) -> impl Fn(T, T) -> T + Clone {
    move |kept, record| {
        if is_better(&field(&record), &field(&kept)) {
            record
        } else {
            kept
        }
    }
}

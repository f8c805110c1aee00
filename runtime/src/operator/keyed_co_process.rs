//! A user's function over two keyed streams, with state per key that both share, and timers.
//!
//! Within an epoch all records of the first stream come before those of the second, then timers fire, so that the
//! result depends on the order within each stream alone.

use crate::batch::{Batch, StreamData};
use crate::error::Result;
use crate::operator::keyed_run::KeyedRun;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, KeyedContext, OnTimerContext, OperatorContext,
    Output, Restore, RuntimeContext, SideOutputPorts, Snapshot, StateSize,
};
use crate::state::StateKey;

/// Processes the records of two keyed streams one by one, as Flink's `KeyedCoProcessFunction`.
///
/// The function is cloned for every worker. State handles are fields, filled in `open`.
pub trait KeyedCoProcessFunction<K, IN1, IN2, O>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else: declare state here.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes a record of the first stream.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element1(
        &mut self,
        value: IN1,
        context: &mut KeyedContext<'_, K>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// Takes a record of the second stream.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element2(
        &mut self,
        value: IN2,
        context: &mut KeyedContext<'_, K>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// A timer of the current key fires.
    ///
    /// # Errors
    /// Fails the job.
    fn on_timer(
        &mut self,
        timestamp: i64,
        context: &mut OnTimerContext<'_, K>,
        out: &mut Collector<O>,
    ) -> Result<()> {
        let _ = (timestamp, context, out);
        Ok(())
    }

    /// The input has ended.
    ///
    /// # Errors
    /// Fails the job.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Runs a [`KeyedCoProcessFunction`].
pub struct KeyedCoProcessOperator<K, IN1, IN2, O, F> {
    selectors: (KeySelector<IN1, K>, KeySelector<IN2, K>),
    function: F,
    side_ports: SideOutputPorts,
    second: Vec<Batch>,
    run: Option<KeyedRun<K, O>>,
}

impl<K, IN1, IN2, O, F> KeyedCoProcessOperator<K, IN1, IN2, O, F>
where
    K: StateKey,
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: KeyedCoProcessFunction<K, IN1, IN2, O>,
{
    /// An operator for `function`, whose side outputs are those of `side_ports`.
    pub fn new(
        selectors: (KeySelector<IN1, K>, KeySelector<IN2, K>),
        function: F,
        side_ports: SideOutputPorts,
    ) -> Self {
        KeyedCoProcessOperator {
            selectors,
            function,
            side_ports,
            second: Vec::new(),
            run: None,
        }
    }

    fn run(&mut self) -> &mut KeyedRun<K, O> {
        self.run.as_mut().expect("open comes first")
    }
}

impl<K, IN1, IN2, O, F> EpochOperator for KeyedCoProcessOperator<K, IN1, IN2, O, F>
where
    K: StateKey,
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: KeyedCoProcessFunction<K, IN1, IN2, O>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.run = Some(KeyedRun::open(context, &self.side_ports, |context| {
            self.function.open(context)
        })?);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        self.run().restore(state)
    }

    fn process(&mut self, input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        if input > 0 {
            self.second.push(batch);
            return Ok(());
        }
        let (run, function) = (
            self.run.as_mut().expect("open comes first"),
            &mut self.function,
        );
        run.process(&self.selectors.0, batch, output, |value, context, out| {
            function.process_element1(value, context, out)
        })
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let (run, function) = (
            self.run.as_mut().expect("open comes first"),
            &mut self.function,
        );
        for batch in std::mem::take(&mut self.second) {
            run.process(&self.selectors.1, batch, output, |value, context, out| {
                function.process_element2(value, context, out)
            })?;
        }
        run.end_epoch(output, |time, context, out| {
            function.on_timer(time, context, out)
        })?;
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.run().snapshot(snapshot);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.function.close()
    }

    fn state_size(&self) -> StateSize {
        self.run
            .as_ref()
            .map_or_else(StateSize::default, KeyedRun::state_size)
    }
}

//! One accumulator per key, fed by an aggregate function.

use std::rc::Rc;

use crate::batch::StreamData;
use crate::operator::AggregateFunction;

use super::local::Local;
use super::value::ValueTable;

pub(crate) struct Aggregating<IN, ACC, OUT> {
    pub(crate) table: Rc<ValueTable<ACC>>,
    pub(crate) function: Rc<dyn AggregateFunction<IN, Accumulator = ACC, Output = OUT>>,
}

/// The aggregate of all values added for the current key.
///
/// Made by [`RuntimeContext::aggregating_state`](crate::operator::RuntimeContext::aggregating_state).
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct AggregatingState<IN, ACC, OUT> {
    state: Local<Aggregating<IN, ACC, OUT>>,
}

impl<IN, ACC, OUT> Clone for AggregatingState<IN, ACC, OUT> {
    fn clone(&self) -> Self {
        AggregatingState { state: self.state }
    }
}

impl<IN, ACC, OUT> Default for AggregatingState<IN, ACC, OUT> {
    fn default() -> Self {
        AggregatingState {
            state: Local::default(),
        }
    }
}

impl<IN: 'static, ACC: StreamData, OUT: StreamData> AggregatingState<IN, ACC, OUT> {
    pub(crate) fn new(state: Local<Aggregating<IN, ACC, OUT>>) -> Self {
        AggregatingState { state }
    }

    /// The aggregate's result, if any value was added.
    #[doc(alias = "get")]
    pub fn value(&self) -> Option<OUT> {
        self.state.with(|state| {
            let accumulator = state.table.get(|accumulator| accumulator.cloned());
            accumulator.map(|accumulator| state.function.result(&accumulator))
        })
    }

    /// Takes in a value.
    pub fn add(&self, value: IN) {
        self.state.with(|state| {
            let mut accumulator = state
                .table
                .take_value()
                .unwrap_or_else(|| state.function.create_accumulator());
            state.function.add(value, &mut accumulator);
            state.table.put(Some(accumulator));
        });
    }

    /// Removes the accumulator.
    pub fn clear(&self) {
        self.state.with(|state| state.table.put(None));
    }
}

//! What a window keeps of its elements, and what it hands to the window function when it fires.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::batch::StreamData;
use crate::error::Result;
use crate::operator::AggregateFunction;

use super::evictor::{Evictor, EvictorContext};

/// The contents of the windows of a stream of `T`.
pub trait WindowAggregation<T, W>: 'static {
    /// What is kept per key and window.
    type State: StreamData;
    /// What a window function gets.
    type Result: StreamData;

    /// Takes in an element; `None` is a new window.
    fn add(&self, state: Option<Self::State>, value: T, timestamp: i64) -> Self::State;

    /// Joins the contents of two windows (or slices of time); `later` follows in time.
    fn merge(&self, state: Self::State, later: Self::State) -> Self::State;

    /// Computes the window and hands the results to `emit`.
    ///
    /// # Errors
    /// What `emit` answers.
    fn fire(
        &self,
        state: &mut Self::State,
        window: &W,
        context: &EvictorContext,
        emit: &mut dyn FnMut(&[Self::Result]) -> Result<()>,
    ) -> Result<()>;
}

/// Keeps one value.
pub struct ReduceElements<F> {
    reduce: F,
}

impl<F> ReduceElements<F> {
    /// Joins two values by `reduce`.
    pub fn new(reduce: F) -> Self {
        ReduceElements { reduce }
    }
}

impl<T: StreamData, W, F: Fn(T, T) -> T + 'static> WindowAggregation<T, W> for ReduceElements<F> {
    type State = T;
    type Result = T;

    #[inline]
    fn add(&self, state: Option<T>, value: T, _: i64) -> T {
        match state {
            Some(state) => (self.reduce)(state, value),
            None => value,
        }
    }

    #[inline]
    fn merge(&self, state: T, later: T) -> T {
        (self.reduce)(state, later)
    }

    fn fire(
        &self,
        state: &mut T,
        _: &W,
        _: &EvictorContext,
        emit: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        emit(std::slice::from_ref(state))
    }
}

/// Keeps an accumulator.
pub struct AggregateElements<A> {
    function: A,
}

impl<A> AggregateElements<A> {
    /// Aggregates by `function`.
    pub fn new(function: A) -> Self {
        AggregateElements { function }
    }
}

impl<T, W, A: AggregateFunction<T>> WindowAggregation<T, W> for AggregateElements<A> {
    type State = A::Accumulator;
    type Result = A::Output;

    #[inline]
    fn add(&self, state: Option<A::Accumulator>, value: T, _: i64) -> A::Accumulator {
        let mut accumulator = state.unwrap_or_else(|| self.function.create_accumulator());
        self.function.add(value, &mut accumulator);
        accumulator
    }

    #[inline]
    fn merge(&self, mut state: A::Accumulator, later: A::Accumulator) -> A::Accumulator {
        self.function.merge(&mut state, later);
        state
    }

    fn fire(
        &self,
        state: &mut A::Accumulator,
        _: &W,
        _: &EvictorContext,
        emit: &mut dyn FnMut(&[A::Output]) -> Result<()>,
    ) -> Result<()> {
        emit(std::slice::from_ref(&self.function.result(state)))
    }
}

/// The elements of a window in the order of arrival, with their timestamps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowElements<T> {
    values: Vec<T>,
    timestamps: Vec<i64>,
}

impl<T> WindowElements<T> {
    /// The elements.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Their timestamps, [`NO_TIMESTAMP`](crate::batch::NO_TIMESTAMP) for none.
    pub fn timestamps(&self) -> &[i64] {
        &self.timestamps
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Removes the first `count` elements.
    pub fn drop_first(&mut self, count: usize) {
        self.values.drain(..count);
        self.timestamps.drain(..count);
    }

    /// Keeps the elements for which `keep(value, timestamp)` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&T, i64) -> bool) {
        let timestamps = std::mem::take(&mut self.timestamps);
        let mut kept = Vec::with_capacity(timestamps.len());
        let mut at = timestamps.into_iter();
        self.values.retain(|value| {
            let timestamp = at.next().expect("each value has a timestamp");
            let keeps = keep(value, timestamp);
            if keeps {
                kept.push(timestamp);
            }
            keeps
        });
        self.timestamps = kept;
    }
}

/// Keeps all elements.
pub struct Elements<T> {
    marker: PhantomData<fn() -> T>,
}

impl<T> Elements<T> {
    /// Keeps all elements.
    pub fn new() -> Self {
        Elements {
            marker: PhantomData,
        }
    }
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: StreamData, W> WindowAggregation<T, W> for Elements<T> {
    type State = WindowElements<T>;
    type Result = T;

    fn add(&self, state: Option<WindowElements<T>>, value: T, timestamp: i64) -> WindowElements<T> {
        let mut elements = state.unwrap_or_else(|| WindowElements {
            values: Vec::new(),
            timestamps: Vec::new(),
        });
        elements.values.push(value);
        elements.timestamps.push(timestamp);
        elements
    }

    fn merge(&self, mut state: WindowElements<T>, later: WindowElements<T>) -> WindowElements<T> {
        state.values.extend(later.values);
        state.timestamps.extend(later.timestamps);
        state
    }

    fn fire(
        &self,
        state: &mut WindowElements<T>,
        _: &W,
        _: &EvictorContext,
        emit: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        emit(&state.values)
    }
}

/// Keeps all elements, removes some by an evictor, and computes another aggregation over the rest.
pub struct Evicting<T, W, C> {
    evictor: Arc<dyn Evictor<T, W>>,
    inner: C,
}

impl<T, W, C> Evicting<T, W, C> {
    /// `inner` over what `evictor` leaves.
    pub fn new(evictor: Arc<dyn Evictor<T, W>>, inner: C) -> Self {
        Evicting { evictor, inner }
    }
}

impl<T: StreamData, W: 'static, C: WindowAggregation<T, W>> WindowAggregation<T, W>
    for Evicting<T, W, C>
{
    type State = WindowElements<T>;
    type Result = C::Result;

    fn add(&self, state: Option<WindowElements<T>>, value: T, timestamp: i64) -> WindowElements<T> {
        WindowAggregation::<T, W>::add(&Elements::new(), state, value, timestamp)
    }

    fn merge(&self, state: WindowElements<T>, later: WindowElements<T>) -> WindowElements<T> {
        WindowAggregation::<T, W>::merge(&Elements::new(), state, later)
    }

    fn fire(
        &self,
        elements: &mut WindowElements<T>,
        window: &W,
        context: &EvictorContext,
        emit: &mut dyn FnMut(&[C::Result]) -> Result<()>,
    ) -> Result<()> {
        self.evictor.evict_before(elements, window, context);
        let mut state = None;
        for (value, timestamp) in elements.values.iter().zip(&elements.timestamps) {
            state = Some(self.inner.add(state.take(), value.clone(), *timestamp));
        }
        match &mut state {
            Some(state) => self.inner.fire(state, window, context, emit)?,
            None => emit(&[])?,
        }
        self.evictor.evict_after(elements, window, context);
        Ok(())
    }
}

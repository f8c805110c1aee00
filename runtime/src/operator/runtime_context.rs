//! What a function can ask for in `open`: who it is, and its keyed state.

use std::rc::Rc;

use crate::batch::StreamData;
use crate::error::Result;
use crate::operator::OperatorContext;
use crate::state::{
    Aggregating, AggregatingState, AggregatingStateDescriptor, BroadcastState, BroadcastTable,
    Content, ListState, ListStateDescriptor, MapState, MapStateDescriptor, Reducing, ReducingState,
    ReducingStateDescriptor, StateError, StateKey, StateTables, StateTtlConfig, Table, ValueState,
    ValueStateDescriptor,
};

/// Handed to the `open` of every function.
pub struct RuntimeContext<'a> {
    operator: &'a OperatorContext,
    states: Option<&'a mut StateTables>,
}

impl<'a> RuntimeContext<'a> {
    /// A context without keyed state.
    pub fn new(operator: &'a OperatorContext) -> Self {
        RuntimeContext {
            operator,
            states: None,
        }
    }

    pub(crate) fn keyed(operator: &'a OperatorContext, states: &'a mut StateTables) -> Self {
        RuntimeContext {
            operator,
            states: Some(states),
        }
    }

    /// The name of the operator.
    pub fn task_name(&self) -> &str {
        &self.operator.name
    }

    /// Which of the parallel instances this is, from 0.
    pub fn index_of_this_subtask(&self) -> usize {
        self.operator.worker
    }

    /// How many parallel instances there are.
    pub fn number_of_parallel_subtasks(&self) -> usize {
        self.operator.parallelism
    }

    /// The operator's name, uid, place and metrics.
    pub fn operator(&self) -> &OperatorContext {
        self.operator
    }

    fn tables(&mut self, state: &str) -> Result<&mut StateTables> {
        let uid = &self.operator.uid;
        self.states.as_deref_mut().ok_or_else(|| {
            StateError::NotKeyed {
                uid: uid.clone(),
                state: state.to_string(),
            }
            .into()
        })
    }

    fn table<C: Content>(
        &mut self,
        name: &str,
        ttl: Option<StateTtlConfig>,
    ) -> Result<Rc<Table<C>>> {
        self.tables(name)?.table(name, ttl)
    }

    /// One value per key.
    ///
    /// # Errors
    /// `state.duplicate` or `state.not_keyed`; so do the other kinds of state.
    pub fn state<V: StreamData>(
        &mut self,
        descriptor: ValueStateDescriptor<V>,
    ) -> Result<ValueState<V>> {
        let table = self.table(&descriptor.name, descriptor.ttl)?;
        Ok(ValueState::new(self.tables(&descriptor.name)?.bind(table)))
    }

    /// A list per key.
    ///
    /// # Errors
    /// See [`state`](Self::state).
    pub fn list_state<V: StreamData>(
        &mut self,
        descriptor: ListStateDescriptor<V>,
    ) -> Result<ListState<V>> {
        let table = self.table(&descriptor.name, descriptor.ttl)?;
        Ok(ListState::new(self.tables(&descriptor.name)?.bind(table)))
    }

    /// A map per key.
    ///
    /// # Errors
    /// See [`state`](Self::state).
    pub fn map_state<MK: StateKey, V: StreamData>(
        &mut self,
        descriptor: MapStateDescriptor<MK, V>,
    ) -> Result<MapState<MK, V>> {
        let table = self.table(&descriptor.name, descriptor.ttl)?;
        Ok(MapState::new(self.tables(&descriptor.name)?.bind(table)))
    }

    /// A map that all workers have the same of. Only in functions that read a broadcast stream.
    ///
    /// # Errors
    /// See [`state`](Self::state).
    pub fn broadcast_state<MK: StateKey, V: StreamData>(
        &mut self,
        descriptor: MapStateDescriptor<MK, V>,
    ) -> Result<BroadcastState<MK, V>> {
        let worker = self.operator.worker;
        let tables = self.tables(&descriptor.name)?;
        let table = tables.broadcast::<BroadcastTable<MK, V>>(&descriptor.name, worker)?;
        Ok(BroadcastState::new(tables.bind(table)))
    }

    /// One value per key that takes in others by a function.
    ///
    /// # Errors
    /// See [`state`](Self::state).
    pub fn reducing_state<V: StreamData>(
        &mut self,
        descriptor: ReducingStateDescriptor<V>,
    ) -> Result<ReducingState<V>> {
        let table = self.table(&descriptor.name, descriptor.ttl)?;
        let state = Rc::new(Reducing {
            table,
            reduce: descriptor.reduce,
        });
        Ok(ReducingState::new(
            self.tables(&descriptor.name)?.bind(state),
        ))
    }

    /// One accumulator per key, fed by an aggregate function.
    ///
    /// # Errors
    /// See [`state`](Self::state).
    pub fn aggregating_state<IN: 'static, ACC: StreamData, OUT: StreamData>(
        &mut self,
        descriptor: AggregatingStateDescriptor<IN, ACC, OUT>,
    ) -> Result<AggregatingState<IN, ACC, OUT>> {
        let table = self.table(&descriptor.name, descriptor.ttl)?;
        let state = Rc::new(Aggregating {
            table,
            function: descriptor.function,
        });
        Ok(AggregatingState::new(
            self.tables(&descriptor.name)?.bind(state),
        ))
    }
}

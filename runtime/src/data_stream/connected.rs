//! Two streams read by one function: [`ConnectedStreams`], [`KeyedConnectedStreams`], [`BroadcastConnectedStream`].

use std::marker::PhantomData;

use crate::batch::StreamData;
use crate::data_stream::{DataStream, KeyedStream};
use crate::error::Result;
use crate::exchange::Exchange;
use crate::operator::{
    CoProcessFunction, CoProcessOperator, Collector, KeyedBroadcastProcessFunction,
    KeyedBroadcastProcessOperator, KeyedCoProcessFunction, KeyedCoProcessOperator, ProcessContext,
    SideOutputPorts,
};
use crate::state::StateKey;
use crate::transformation::Edge;

impl<T: StreamData> DataStream<T> {
    /// Reads this stream and `other` by one function.
    pub fn connect<U: StreamData>(&self, other: &DataStream<U>) -> ConnectedStreams<T, U> {
        ConnectedStreams {
            first: self.clone(),
            second: other.clone(),
        }
    }
}

impl<K: StateKey, T: StreamData> KeyedStream<K, T> {
    /// Reads this stream and `other` by one function, with state that both share per key.
    pub fn connect<U: StreamData>(
        &self,
        other: &KeyedStream<K, U>,
    ) -> KeyedConnectedStreams<K, T, U> {
        KeyedConnectedStreams {
            first: self.clone(),
            second: other.clone(),
        }
    }

    /// Reads this stream beside one that every worker gets all of.
    pub fn connect_broadcast<U: StreamData>(
        &self,
        broadcast: &DataStream<U>,
    ) -> BroadcastConnectedStream<K, T, U> {
        BroadcastConnectedStream {
            keyed: self.clone(),
            broadcast: broadcast.clone(),
        }
    }
}

fn both(mut first: Vec<Edge>, second: Vec<Edge>) -> Vec<Edge> {
    first.extend(second);
    first
}

/// Two streams without keys.
#[must_use = "connected streams do nothing until they are processed"]
pub struct ConnectedStreams<T, U> {
    first: DataStream<T>,
    second: DataStream<U>,
}

impl<T: StreamData, U: StreamData> ConnectedStreams<T, U> {
    /// Brings the records of each key of both streams together.
    pub fn key_by<K: StateKey>(
        &self,
        first: impl Fn(&T) -> K + Clone + Send + Sync + 'static,
        second: impl Fn(&U) -> K + Clone + Send + Sync + 'static,
    ) -> KeyedConnectedStreams<K, T, U> {
        self.first
            .key_by(first)
            .connect(&self.second.key_by(second))
    }

    /// Gives each record to one of two functions.
    pub fn map<O: StreamData>(
        &self,
        first: impl Fn(T) -> O + Clone + Send + Sync + 'static,
        second: impl Fn(U) -> O + Clone + Send + Sync + 'static,
    ) -> DataStream<O> {
        self.process(Map {
            first,
            second,
            marker: PhantomData,
        })
    }

    /// Gives each record of both streams to a function.
    ///
    /// Within an epoch the records of the first stream come first.
    pub fn process<O, F>(&self, function: F) -> DataStream<O>
    where
        O: StreamData,
        F: CoProcessFunction<T, U, O>,
    {
        let ports = SideOutputPorts::new();
        let with_ports = ports.clone();
        DataStream::from_operator(
            &self.first,
            "CoProcess",
            both(self.first.edges(0), self.second.edges(1)),
            |transformation| transformation.with_side_outputs(with_ports),
            move || CoProcessOperator::<T, U, O, F>::new(function.clone(), &ports),
        )
    }
}

struct Map<A, B, O> {
    first: A,
    second: B,
    marker: PhantomData<fn() -> O>,
}

impl<A: Clone, B: Clone, O> Clone for Map<A, B, O> {
    fn clone(&self) -> Self {
        Map {
            first: self.first.clone(),
            second: self.second.clone(),
            marker: PhantomData,
        }
    }
}

impl<A, B, T, U, O> CoProcessFunction<T, U, O> for Map<A, B, O>
where
    A: Fn(T) -> O + Clone + Send + Sync + 'static,
    B: Fn(U) -> O + Clone + Send + Sync + 'static,
    O: StreamData,
{
    fn process_element1(
        &mut self,
        value: T,
        _: &mut ProcessContext<'_>,
        out: &mut Collector<O>,
    ) -> Result<()> {
        out.collect((self.first)(value));
        Ok(())
    }

    fn process_element2(
        &mut self,
        value: U,
        _: &mut ProcessContext<'_>,
        out: &mut Collector<O>,
    ) -> Result<()> {
        out.collect((self.second)(value));
        Ok(())
    }
}

/// Two streams keyed alike.
#[must_use = "connected streams do nothing until they are processed"]
pub struct KeyedConnectedStreams<K, T, U> {
    first: KeyedStream<K, T>,
    second: KeyedStream<K, U>,
}

impl<K: StateKey, T: StreamData, U: StreamData> KeyedConnectedStreams<K, T, U> {
    /// Gives each record of both streams to a function with state and timers per key.
    ///
    /// Within an epoch the records of the first stream come first.
    pub fn process<O, F>(&self, function: F) -> DataStream<O>
    where
        O: StreamData,
        F: KeyedCoProcessFunction<K, T, U, O>,
    {
        let (selectors, ports) = (
            (self.first.selector(), self.second.selector()),
            SideOutputPorts::new(),
        );
        let with_ports = ports.clone();
        DataStream::from_operator(
            self.first.stream(),
            "KeyedCoProcess",
            both(self.first.keyed_edges(0), self.second.keyed_edges(1)),
            |transformation| transformation.with_side_outputs(with_ports),
            move || {
                KeyedCoProcessOperator::<K, T, U, O, F>::new(
                    selectors.clone(),
                    function.clone(),
                    ports.clone(),
                )
            },
        )
    }
}

/// A keyed stream beside a broadcast one.
#[must_use = "connected streams do nothing until they are processed"]
pub struct BroadcastConnectedStream<K, T, U> {
    keyed: KeyedStream<K, T>,
    broadcast: DataStream<U>,
}

impl<K: StateKey, T: StreamData, U: StreamData> BroadcastConnectedStream<K, T, U> {
    /// Gives the keyed records to a function with state per key, and the broadcast ones to it on every worker.
    ///
    /// Within an epoch the broadcast records come first.
    pub fn process<O, F>(&self, function: F) -> DataStream<O>
    where
        O: StreamData,
        F: KeyedBroadcastProcessFunction<K, T, U, O>,
    {
        let (selector, ports) = (self.keyed.selector(), SideOutputPorts::new());
        let with_ports = ports.clone();
        DataStream::from_operator(
            self.keyed.stream(),
            "KeyedBroadcastProcess",
            both(
                self.keyed.keyed_edges(0),
                self.broadcast.edges_by(1, &Exchange::Broadcast),
            ),
            |transformation| transformation.with_side_outputs(with_ports),
            move || {
                KeyedBroadcastProcessOperator::<K, T, U, O, F>::new(
                    selector.clone(),
                    function.clone(),
                    ports.clone(),
                )
            },
        )
    }
}

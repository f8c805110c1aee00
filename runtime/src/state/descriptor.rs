//! Names and types of states, as a function declares them in `open`.
//!
//! A state is found again after a restore by its name, so a name is part of the job's contract; its type may not
//! change.

use std::marker::PhantomData;
use std::rc::Rc;

use crate::operator::AggregateFunction;

use super::ttl::StateTtlConfig;

macro_rules! plain_descriptor {
    ($(#[$doc:meta])* $name:ident<$($parameter:ident),+>) => {
        $(#[$doc])*
        pub struct $name<$($parameter),+> {
            pub(crate) name: String,
            pub(crate) ttl: Option<StateTtlConfig>,
            marker: PhantomData<fn() -> ($($parameter,)+)>,
        }

        impl<$($parameter),+> $name<$($parameter),+> {
            /// A state of this name, which is unique in its operator.
            pub fn new(name: impl Into<String>) -> Self {
                $name { name: name.into(), ttl: None, marker: PhantomData }
            }

            /// Lets the state expire.
            #[must_use]
            pub fn with_ttl(mut self, ttl: StateTtlConfig) -> Self {
                self.ttl = Some(ttl);
                self
            }
        }
    };
}

plain_descriptor!(
    /// Declares a [`ValueState`](super::ValueState).
    ValueStateDescriptor<V>
);
plain_descriptor!(
    /// Declares a [`ListState`](super::ListState).
    ListStateDescriptor<V>
);
plain_descriptor!(
    /// Declares a [`MapState`](super::MapState).
    MapStateDescriptor<MK, V>
);

/// Declares a [`ReducingState`](super::ReducingState).
pub struct ReducingStateDescriptor<V> {
    pub(crate) name: String,
    pub(crate) ttl: Option<StateTtlConfig>,
    pub(crate) reduce: Rc<dyn Fn(V, V) -> V>,
}

impl<V> ReducingStateDescriptor<V> {
    /// A state of this name, which is unique in its operator; `reduce` joins two values.
    pub fn new(name: impl Into<String>, reduce: impl Fn(V, V) -> V + 'static) -> Self {
        ReducingStateDescriptor {
            name: name.into(),
            ttl: None,
            reduce: Rc::new(reduce),
        }
    }

    /// Lets the state expire.
    #[must_use]
    pub fn with_ttl(mut self, ttl: StateTtlConfig) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

/// Declares an [`AggregatingState`](super::AggregatingState).
pub struct AggregatingStateDescriptor<IN, ACC, OUT> {
    pub(crate) name: String,
    pub(crate) ttl: Option<StateTtlConfig>,
    pub(crate) function: Rc<dyn AggregateFunction<IN, Accumulator = ACC, Output = OUT>>,
}

impl<IN, ACC, OUT> AggregatingStateDescriptor<IN, ACC, OUT> {
    /// A state of this name, which is unique in its operator.
    pub fn new(
        name: impl Into<String>,
        function: impl AggregateFunction<IN, Accumulator = ACC, Output = OUT>,
    ) -> Self {
        AggregatingStateDescriptor {
            name: name.into(),
            ttl: None,
            function: Rc::new(function),
        }
    }

    /// Lets the state expire.
    #[must_use]
    pub fn with_ttl(mut self, ttl: StateTtlConfig) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

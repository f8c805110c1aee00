//! Keyed state: what a function remembers per key.
//!
//! The idea: a key is looked up once per record and becomes a dense **slot**; every state is a table indexed by
//! slot, and a handle ([`ValueState`], [`ListState`], ...) reads the entry of the *current* slot. So reading a
//! state costs an index, not a hash, and states of one key share the look-up.
//!
//! 1. [`KeyMap`]: key to slot, with a free list.
//! 2. `Table`: one state's contents by slot; `content` holds the shapes (one value, a list, a map).
//! 3. [`KeyedStateBackend`]: the keys, the tables, their snapshots; frees a key when its last state is gone.
//! 4. Handles and their descriptors, made in `open` through [`RuntimeContext`](crate::operator::RuntimeContext).
//!
//! Invariants: a slot belongs to one key as long as any state or timer of it exists; the order in which keys are
//! iterated depends on the order of arrival alone.

mod aggregating;
mod backend;
mod broadcast;
mod content;
mod descriptor;
mod error;
mod key_map;
mod list;
mod local;
mod map;
mod ordered_map;
mod reducing;
mod slot_index;
mod slots;
mod table;
mod ttl;
mod value;

pub(crate) use aggregating::Aggregating;
pub use aggregating::AggregatingState;
pub use backend::KeyedStateBackend;
pub(crate) use backend::{
    EVENT_TIMERS, FrozenKeys, PROCESSING_TIMERS, SLICES, STACKS, StateTables, WATERMARK,
};
pub use broadcast::BroadcastState;
pub(crate) use broadcast::BroadcastTable;
pub(crate) use content::Content;
pub use descriptor::{
    AggregatingStateDescriptor, ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor,
    ValueStateDescriptor,
};
pub use error::StateError;
pub use key_map::{KeyMap, Located, StateKey};
pub use list::ListState;
pub use map::MapState;
pub(crate) use reducing::Reducing;
pub use reducing::ReducingState;
pub(crate) use slots::Slots;
pub(crate) use table::Table;
pub use ttl::{StateTtlConfig, StateVisibility, UpdateType};
pub use value::ValueState;

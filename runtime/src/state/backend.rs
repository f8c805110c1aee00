//! The keyed state of one operator instance: its keys and the tables of its states.
//!
//! At a checkpoint the keys and the contents are copied; encoding runs on the writer's thread. A record is the
//! key's bytes followed by the content's. A restore reads the records of the keys that belong to this instance,
//! whatever the number of instances that wrote them, and refuses states whose type differs (the driver refuses
//! those that nobody asked for).

use std::any::type_name;
use std::rc::Rc;
use std::sync::Arc;

use crate::error::Result;
use crate::exchange::key_hash;
use crate::operator::{RecordSink, Restore, Snapshot, StateSize};

use super::broadcast::BroadcastContents;
use super::content::Content;
use super::error::StateError;
use super::key_map::{KeyMap, Located, StateKey};
use super::local::{Local, LocalGuard};
use super::slots::Slots;
use super::table::{FrozenState, KeyedState, Table};
use super::ttl::StateTtlConfig;

/// The names of what operators keep beside the states of their function.
pub(crate) const EVENT_TIMERS: &str = "_event_time_timers";
pub(crate) const PROCESSING_TIMERS: &str = "_processing_time_timers";
pub(crate) const WATERMARK: &str = "_watermark";
/// Those of the slice window operator.
pub(crate) const SLICES: &str = "_slices";
pub(crate) const STACKS: &str = "_stacks";
const RESERVED: [&str; 5] = [SLICES, STACKS, EVENT_TIMERS, PROCESSING_TIMERS, WATERMARK];

/// How many slots the background clean-up visits per state and epoch.
const CLEAN_UP_SLOTS: usize = 256;

/// The states of an operator, without the type of its key.
pub(crate) struct StateTables {
    uid: String,
    slots: Rc<Slots>,
    states: Vec<Registered>,
    broadcast: Vec<(String, Rc<dyn BroadcastContents>)>,
    /// All instances have the same broadcast state; this one writes it.
    writes_broadcast: bool,
    expires: bool,
    guards: Vec<LocalGuard>,
}

struct Registered {
    name: String,
    state: Rc<dyn KeyedState>,
}

impl StateTables {
    /// Adds a state.
    pub(crate) fn table<C: Content>(
        &mut self,
        name: &str,
        ttl: Option<StateTtlConfig>,
    ) -> Result<Rc<Table<C>>> {
        self.check_name(name)?;
        self.expires |= ttl.is_some();
        let table = Rc::new(Table::<C>::new(self.slots.clone(), ttl));
        self.states.push(Registered {
            name: name.to_string(),
            state: table.clone(),
        });
        Ok(table)
    }

    fn check_name(&self, name: &str) -> Result<()> {
        let mut keyed = self.states.iter().map(|state| &state.name);
        let mut broadcast = self.broadcast.iter().map(|(name, _)| name);
        if RESERVED.contains(&name)
            || keyed.any(|other| other == name)
            || broadcast.any(|other| other == name)
        {
            let (uid, state) = (self.uid.clone(), name.to_string());
            return Err(StateError::Duplicate { uid, state }.into());
        }
        Ok(())
    }

    /// Adds a broadcast state, which the instance on worker 0 writes.
    pub(crate) fn broadcast<B: BroadcastContents + Default + 'static>(
        &mut self,
        name: &str,
        worker: usize,
    ) -> Result<Rc<B>> {
        self.check_name(name)?;
        let state = Rc::new(B::default());
        self.broadcast.push((name.to_string(), state.clone()));
        self.writes_broadcast = worker == 0;
        Ok(state)
    }

    fn snapshot_broadcast(&self, snapshot: &mut Snapshot) {
        for (name, state) in &self.broadcast {
            let (encoded, schema) = (
                self.writes_broadcast.then(|| state.encode()),
                state.schema(),
            );
            let state = name.clone();
            snapshot.list_deferred(name.clone(), schema, move |sink| match encoded {
                Some(Ok(bytes)) => sink.record(0, &bytes),
                Some(Err(reason)) => Err(StateError::Encode { state, reason }.into()),
                None => Ok(()),
            });
        }
    }

    fn restore_broadcast(&self, restore: &Restore) -> Result<()> {
        for (name, state) in &self.broadcast {
            StateError::check_schema(&self.uid, name, restore.schema(name), state.schema())?;
            if let Some(record) = restore.list(name)?.first() {
                state.decode(record).map_err(|reason| {
                    StateError::decode(&self.uid, name, state.schema(), reason)
                })?;
            }
        }
        Ok(())
    }

    /// Makes `value` reachable by handles, as long as this lives.
    pub(crate) fn bind<T: 'static>(&mut self, value: Rc<T>) -> Local<T> {
        let (local, guard) = Local::bind(value);
        self.guards.push(guard);
        local
    }
}

/// A copy of the keys of a backend: slot, routing hash and key, by slot.
pub(crate) struct FrozenKeys<K> {
    keys: Vec<(u32, u64, K)>,
}

impl<K> FrozenKeys<K> {
    /// The hash and the key of `slot`.
    pub(crate) fn get(&self, slot: u32) -> Option<(u64, &K)> {
        let at = self
            .keys
            .binary_search_by_key(&slot, |(slot, _, _)| *slot)
            .ok()?;
        self.keys.get(at).map(|(_, hash, key)| (*hash, key))
    }
}

/// See the module's description.
pub struct KeyedStateBackend<K> {
    keys: KeyMap<K, ()>,
    slots: Rc<Slots>,
    tables: StateTables,
    emptied: Vec<u32>,
}

impl<K: StateKey> KeyedStateBackend<K> {
    /// A backend without keys or states; `uid` names the operator in errors.
    pub fn new(uid: impl Into<String>) -> Self {
        let slots = Rc::new(Slots::default());
        let tables = StateTables {
            uid: uid.into(),
            slots: slots.clone(),
            states: Vec::new(),
            broadcast: Vec::new(),
            writes_broadcast: true,
            expires: false,
            guards: Vec::new(),
        };
        KeyedStateBackend {
            keys: KeyMap::new(),
            slots,
            tables,
            emptied: Vec::new(),
        }
    }

    pub(crate) fn tables(&mut self) -> &mut StateTables {
        &mut self.tables
    }

    pub(crate) fn slots(&self) -> &Rc<Slots> {
        &self.slots
    }

    /// Makes `key` the current key of all handles and answers its slot.
    #[inline]
    pub fn activate(&mut self, key: K) -> u32 {
        let slot = self.keys.find_or_insert(key_hash(&key), key, || ());
        self.slots.set_current(slot);
        slot
    }

    /// Looks up the keys of a batch and their states, see [`KeyMap::locate`].
    pub(crate) fn locate(&self, keys: &[K], located: &mut Vec<Located>) {
        self.keys.locate(keys, located);
        for registered in &self.tables.states {
            registered.state.touch(located);
        }
    }

    /// As [`activate`](Self::activate), for a key that was looked up before.
    #[inline]
    pub(crate) fn activate_located(&mut self, located: Located, key: K) -> u32 {
        let slot = self.keys.find_or_insert_located(located, key, || ());
        self.slots.set_current(slot);
        slot
    }

    /// Makes the key at `slot` the current key.
    #[inline]
    pub fn activate_slot(&mut self, slot: u32) {
        self.slots.set_current(slot);
    }

    /// The key at `slot`.
    ///
    /// # Panics
    /// When the slot has been given back.
    #[inline]
    pub fn key(&self, slot: u32) -> &K {
        self.keys
            .key(slot)
            .expect("a slot that is in use has a key")
    }

    /// Done with the key at `slot`: forgets it if it has neither state nor timers.
    #[inline]
    pub fn deactivate(&mut self, slot: u32) {
        if !self.slots.is_live(slot) {
            self.keys.remove(slot);
        }
    }

    /// True when any state is registered.
    pub(crate) fn has_states(&self) -> bool {
        !(self.tables.states.is_empty() && self.tables.broadcast.is_empty())
    }

    /// Sets the clock of the states' time to live.
    pub fn set_processing_time(&mut self, millis: i64) {
        self.slots.set_now(millis);
    }

    /// Drops some of what has expired. Call it once per epoch.
    pub fn clean_up(&mut self) {
        if !self.tables.expires {
            return;
        }
        let mut emptied = std::mem::take(&mut self.emptied);
        for registered in &self.tables.states {
            registered.state.clean_up(CLEAN_UP_SLOTS, &mut emptied);
        }
        emptied.drain(..).for_each(|slot| self.deactivate(slot));
        self.emptied = emptied;
    }

    /// The keys at this moment, with slots and hashes.
    pub(crate) fn frozen_keys(&self) -> Arc<FrozenKeys<K>> {
        let keys = self
            .keys
            .iter()
            .map(|(slot, hash, key, ())| (slot, hash, key.clone()));
        Arc::new(FrozenKeys {
            keys: keys.collect(),
        })
    }

    fn schema(state: &dyn KeyedState) -> String {
        format!("{} by {}", state.schema(), type_name::<K>())
    }

    /// Hands over all states.
    pub(crate) fn snapshot(&self, keys: &Arc<FrozenKeys<K>>, snapshot: &mut Snapshot) {
        self.tables.snapshot_broadcast(snapshot);
        for Registered { name, state } in &self.tables.states {
            let (keys, mut frozen, state_name) = (keys.clone(), state.freeze(), name.clone());
            snapshot.keyed(name.clone(), Self::schema(&**state), move |sink| {
                write_records(&state_name, &keys, &mut *frozen, sink)
            });
        }
    }

    /// Takes back what belongs to this instance. All states must be registered.
    ///
    /// # Errors
    /// `state.schema` or `state.decode`, or when the checkpoint cannot be read.
    pub fn restore(&mut self, restore: &Restore) -> Result<()> {
        self.tables.restore_broadcast(restore)?;
        let uid = self.tables.uid.clone();
        for at in 0..self.tables.states.len() {
            let Registered { name, state } = &self.tables.states[at];
            let (name, state) = (name.clone(), state.clone());
            let expected = Self::schema(&*state);
            StateError::check_schema(&uid, &name, restore.schema(&name), expected.clone())?;
            restore.read(&name, |_, mut bytes| {
                let failed =
                    |reason: String| StateError::decode(&uid, &name, expected.clone(), reason);
                let key: K = bincode::deserialize_from(&mut bytes)
                    .map_err(|error| failed(error.to_string()))?;
                let slot = self.activate(key);
                Ok(state.restore(slot, bytes).map_err(failed)?)
            })?;
        }
        Ok(())
    }

    pub(crate) fn uid(&self) -> &str {
        &self.tables.uid
    }

    /// Keys held, and bytes without what keys and values point to.
    pub fn size(&self) -> StateSize {
        let tables: usize = self
            .tables
            .states
            .iter()
            .map(|state| state.state.bytes())
            .sum();
        StateSize {
            bytes: (self.keys.bytes() + tables) as u64,
            keys: self.keys.len() as u64,
        }
    }
}

fn write_records<K: StateKey>(
    name: &str,
    keys: &FrozenKeys<K>,
    frozen: &mut dyn FrozenState,
    sink: &mut dyn RecordSink,
) -> Result<()> {
    let failed = |reason: String| StateError::Encode {
        state: name.to_string(),
        reason,
    };
    let mut bytes = Vec::new();
    for (slot, hash, key) in &keys.keys {
        bytes.clear();
        bincode::serialize_into(&mut bytes, key).map_err(|error| failed(error.to_string()))?;
        if frozen.write(*slot, &mut bytes).map_err(failed)? {
            sink.record(*hash, &bytes)?;
        }
    }
    Ok(())
}

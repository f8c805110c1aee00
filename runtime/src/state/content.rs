//! What one state holds for one key: nothing, or a value, a list, a map, ...

use std::any::type_name;

use crate::batch::StreamData;

use super::ttl::StateTtlConfig;

/// The entry of one slot in a [`Table`](super::Table). The default is "nothing".
pub(crate) trait Content: StreamData + Default {
    /// What kind of state of which type this is, as text: a restore refuses state of another schema.
    fn schema() -> String;
    /// True when there is nothing to keep.
    fn is_empty(&self) -> bool;
    /// Drops what has expired.
    fn expire(&mut self, ttl: &StateTtlConfig, now: i64);
}

/// One value, with the time it was last touched.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct ValueContent<V> {
    pub(crate) value: Option<V>,
    pub(crate) stamp: i64,
}

impl<V> Default for ValueContent<V> {
    fn default() -> Self {
        ValueContent {
            value: None,
            stamp: 0,
        }
    }
}

impl<V: StreamData> Content for ValueContent<V> {
    fn schema() -> String {
        format!("ValueState<{}>", type_name::<V>())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.value.is_none()
    }

    fn expire(&mut self, ttl: &StateTtlConfig, now: i64) {
        if ttl.is_expired(self.stamp, now) {
            self.value = None;
        }
    }
}

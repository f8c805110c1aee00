//! Side outputs: further streams that an operator makes beside its main one, each named by an [`OutputTag`].
//!
//! An output port exists for each tag that some reader asked for; what is sent to a tag without a reader is
//! dropped, as in Flink. Readers ask after the operator was described but before it is built, so description and
//! operator share the list of ports.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::batch::{BATCH_ROWS, StreamBatch, StreamData};
use crate::operator::Output;

/// The name and type of a side output.
#[derive(Debug)]
pub struct OutputTag<X> {
    id: Arc<str>,
    marker: PhantomData<fn() -> X>,
}

impl<X> Clone for OutputTag<X> {
    fn clone(&self) -> Self {
        OutputTag {
            id: self.id.clone(),
            marker: PhantomData,
        }
    }
}

impl<X: 'static> OutputTag<X> {
    /// A tag; tags of the same id and type are the same.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        OutputTag {
            id: id.into(),
            marker: PhantomData,
        }
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn key(&self) -> PortKey {
        PortKey {
            id: self.id.clone(),
            data_type: TypeId::of::<X>(),
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
struct PortKey {
    id: Arc<str>,
    data_type: TypeId,
}

/// The side outputs that readers asked for, in order. Port 0 is the main output.
#[derive(Clone, Default)]
pub struct SideOutputPorts {
    ports: Arc<Mutex<Vec<PortKey>>>,
}

impl SideOutputPorts {
    /// None yet.
    pub fn new() -> Self {
        SideOutputPorts::default()
    }

    /// The port of `tag`, and whether it is new: then the transformation needs one more output.
    pub fn port<X: 'static>(&self, tag: &OutputTag<X>) -> (usize, bool) {
        let key = tag.key();
        let mut ports = self.ports.lock();
        match ports.iter().position(|port| *port == key) {
            Some(at) => (at + 1, false),
            None => {
                ports.push(key);
                (ports.len(), true)
            }
        }
    }

    /// What an operator instance writes to.
    pub(crate) fn outputs(&self) -> SideOutputs {
        let ports = self.ports.lock();
        SideOutputs {
            ports: ports
                .iter()
                .map(|key| SidePort {
                    key: key.clone(),
                    buffer: None,
                })
                .collect(),
        }
    }
}

/// The side outputs of one operator instance.
pub(crate) struct SideOutputs {
    ports: Vec<SidePort>,
}

struct SidePort {
    key: PortKey,
    buffer: Option<Box<dyn SideBuffer>>,
}

trait SideBuffer {
    fn as_any(&mut self) -> &mut dyn Any;
    fn flush(&mut self, port: usize, output: &mut Output);
    fn len(&self) -> usize;
}

impl<X: StreamData> SideBuffer for StreamBatch<X> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn flush(&mut self, port: usize, output: &mut Output) {
        output.emit(port, self.take());
    }

    fn len(&self) -> usize {
        StreamBatch::len(self)
    }
}

impl SideOutputs {
    /// Keeps a value for `tag`, if anyone reads it; false when nobody does.
    pub(crate) fn push<X: StreamData>(
        &mut self,
        tag: &OutputTag<X>,
        value: X,
        timestamp: i64,
    ) -> bool {
        let port = self.ports.iter_mut().find(|port| {
            port.key.data_type == TypeId::of::<X>()
                && (Arc::ptr_eq(&port.key.id, &tag.id) || port.key.id == tag.id)
        });
        let Some(port) = port else { return false };
        let buffer = port
            .buffer
            .get_or_insert_with(|| Box::new(StreamBatch::<X>::new()));
        if let Some(batch) = buffer.as_any().downcast_mut::<StreamBatch<X>>() {
            batch.push_at(value, timestamp);
        }
        true
    }

    #[inline]
    pub(crate) fn flush_full(&mut self, output: &mut Output) {
        for (at, port) in self.ports.iter_mut().enumerate() {
            if let Some(buffer) = port
                .buffer
                .as_mut()
                .filter(|buffer| buffer.len() >= BATCH_ROWS)
            {
                buffer.flush(at + 1, output);
            }
        }
    }

    pub(crate) fn flush(&mut self, output: &mut Output) {
        for (at, port) in self.ports.iter_mut().enumerate() {
            if let Some(buffer) = &mut port.buffer {
                buffer.flush(at + 1, output);
            }
        }
    }
}

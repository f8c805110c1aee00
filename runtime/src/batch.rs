//! The one container that travels on every edge.
//!
//! timely is generic over containers, and every distinct container type is compiled again with all of its
//! channels and operators. Here all edges carry [`Batch`], which owns the rows as a boxed [`BatchData`]: a
//! [`StreamBatch<T>`] on the DataStream side, columns on the Table side. An operator downcasts once per batch, so
//! the price is one virtual call and one allocation per batch, not per row, and the dataflow code is compiled
//! once, in this crate.
//!
//! Between threads a batch moves as it is. Between processes it is encoded once (timely asks for the length before
//! it asks for the bytes, so the bytes are kept), and arrives as [`Content::Encoded`]: bytes alone do not tell
//! their type, so the receiving operator decodes them with the [`BatchCodec`] of the edge. Rows that cannot be
//! encoded travel as a failure message and fail the job where they arrive, because a pusher cannot report errors.
//!
//! Invariant: [`Batch::rows`] is the number timely counts, and is the same before and after encoding.

use std::any::Any;
use std::cell::OnceCell;
use std::io::Write;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::dataflow::channels::ContainerBytes;

use crate::error::{Result, RuntimeError};
use crate::time::WatermarkUpdate;

/// How many rows a source or a flushing operator puts into one batch.
pub const BATCH_ROWS: usize = 1024;

/// The timestamp of a record that has none.
pub const NO_TIMESTAMP: i64 = i64::MIN;

/// What a stream may hold: owned data that can be copied, sent to another worker and stored in a checkpoint.
///
/// Implemented for every type that fits; a user derives `Clone`, `Serialize` and `Deserialize`.
pub trait StreamData: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {}
impl<T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> StreamData for T {}

/// Rows of one concrete representation inside a [`Batch`].
pub trait BatchData: Any + Send {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// A copy, for an edge with several readers.
    fn clone_data(&self) -> Box<dyn BatchData>;
    /// Appends the rows' bytes to `out`; [`BatchCodec::decode`] of the same edge reads them back.
    ///
    /// # Errors
    /// When a row cannot be serialised.
    fn encode(&self, out: &mut Vec<u8>) -> Result<()>;
    /// For the downcast by reference.
    fn as_any(&self) -> &dyn Any;
    /// For the downcast by value.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Decodes the batches of one edge that came from another process.
pub trait BatchCodec: Send + Sync {
    /// Rebuilds `rows` rows from what [`BatchData::encode`] wrote.
    ///
    /// # Errors
    /// When the bytes are not such rows.
    fn decode(&self, bytes: &[u8], rows: usize) -> Result<Box<dyn BatchData>>;
    /// The type of the rows, for messages and plans.
    fn type_name(&self) -> String;
}

/// What a [`Batch`] holds.
pub enum Content {
    /// Nothing; what is left after a batch was taken.
    Empty,
    /// Rows in memory.
    Data(Box<dyn BatchData>),
    /// Rows as they came from another process.
    Encoded {
        /// How many rows the bytes hold.
        rows: usize,
        /// What `encode` wrote.
        bytes: Bytes,
    },
    /// Promises about event time, on the control edges beside the data.
    Watermarks(Vec<WatermarkUpdate>),
    /// Rows that could not be encoded, and why.
    Failed {
        /// How many rows were lost.
        rows: usize,
        /// The reason.
        message: String,
    },
}

/// A set of rows that travel together. See the module's description.
pub struct Batch {
    content: Content,
    /// The worker a direct exchange sends the batch to; ignored on other edges.
    target: u32,
    encoded: OnceCell<Vec<u8>>,
}

impl Default for Batch {
    fn default() -> Self {
        Batch::from_content(Content::Empty)
    }
}

impl Batch {
    /// Wraps rows.
    pub fn new(data: impl BatchData) -> Self {
        Batch::from_boxed(Box::new(data))
    }

    /// Wraps rows that are boxed already.
    pub fn from_boxed(data: Box<dyn BatchData>) -> Self {
        Batch::from_content(Content::Data(data))
    }

    pub(crate) fn from_content(content: Content) -> Self {
        Batch {
            content,
            target: 0,
            encoded: OnceCell::new(),
        }
    }

    /// A batch for the worker `target`, for edges whose sender chooses the receiver.
    pub(crate) fn addressed_to(mut self, target: usize) -> Self {
        self.target = u32::try_from(target).expect("worker indices fit 32 bits");
        self
    }

    pub(crate) fn target(&self) -> usize {
        self.target as usize
    }

    /// Stands for `rows` rows that could not be sent: fails the job where it arrives. For partitioners, which cannot
    /// report errors.
    pub fn failed(rows: usize, message: impl Into<String>) -> Self {
        Batch::from_content(Content::Failed {
            rows,
            message: message.into(),
        })
    }

    /// The number of rows; for watermarks the number of updates.
    pub fn rows(&self) -> usize {
        match &self.content {
            Content::Empty => 0,
            Content::Data(data) => data.rows(),
            Content::Encoded { rows, .. } | Content::Failed { rows, .. } => *rows,
            Content::Watermarks(updates) => updates.len(),
        }
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// What the batch holds.
    pub fn content(&self) -> &Content {
        &self.content
    }

    pub(crate) fn into_content(self) -> Content {
        self.content
    }

    /// The rows as `B`, or `None` when they are of another type or still encoded.
    pub fn data<B: BatchData>(&self) -> Option<&B> {
        match &self.content {
            Content::Data(data) => data.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// Takes the rows out as `B`.
    ///
    /// # Errors
    /// An internal error when the rows are of another type: the graph builder connects only edges of one type.
    pub fn into_data<B: BatchData>(self) -> Result<B> {
        match self.content {
            Content::Data(data) => match data.into_any().downcast::<B>() {
                Ok(data) => Ok(*data),
                Err(_) => Err(RuntimeError::internal(format!(
                    "a batch does not hold {}",
                    std::any::type_name::<B>()
                ))),
            },
            _ => Err(RuntimeError::internal(
                "a batch reached an operator before it was decoded",
            )),
        }
    }

    /// Decodes rows that came from another process; leaves others as they are.
    ///
    /// # Errors
    /// When the bytes are no rows of this edge, or the sender could not encode them.
    pub fn decoded(self, codec: &dyn BatchCodec) -> Result<Batch> {
        match self.content {
            Content::Encoded { rows, bytes } => Ok(Batch::from_boxed(codec.decode(&bytes, rows)?)),
            Content::Failed { message, .. } => Err(RuntimeError::user(message)),
            content => Ok(Batch {
                content,
                target: self.target,
                encoded: self.encoded,
            }),
        }
    }

    fn wire(&self) -> &Vec<u8> {
        self.encoded.get_or_init(|| {
            let mut out = Vec::with_capacity(64);
            let (kind, rows) = match &self.content {
                Content::Empty => (KIND_EMPTY, 0),
                Content::Data(data) => (KIND_DATA, data.rows()),
                Content::Encoded { rows, .. } => (KIND_DATA, *rows),
                Content::Watermarks(updates) => (KIND_WATERMARKS, updates.len()),
                Content::Failed { rows, .. } => (KIND_FAILED, *rows),
            };
            out.extend_from_slice(&kind.to_le_bytes());
            out.extend_from_slice(&(rows as u64).to_le_bytes());
            out.extend_from_slice(&0u64.to_le_bytes());
            let failure = match &self.content {
                Content::Empty => None,
                Content::Data(data) => data.encode(&mut out).err().map(|error| error.to_string()),
                Content::Encoded { bytes, .. } => {
                    out.extend_from_slice(bytes);
                    None
                }
                Content::Watermarks(updates) => bincode::serialize_into(&mut out, updates)
                    .err()
                    .map(|e| e.to_string()),
                Content::Failed { message, .. } => Some(message.clone()),
            };
            if let Some(message) = failure {
                out.truncate(HEADER);
                out[..8].copy_from_slice(&KIND_FAILED.to_le_bytes());
                out.extend_from_slice(message.as_bytes());
            }
            let payload = (out.len() - HEADER) as u64;
            out[16..24].copy_from_slice(&payload.to_le_bytes());
            out.resize(out.len().next_multiple_of(8), 0);
            out
        })
    }
}

/// Kind, rows and payload length, eight bytes each.
const HEADER: usize = 24;
const KIND_EMPTY: u64 = 0;
const KIND_DATA: u64 = 1;
const KIND_WATERMARKS: u64 = 2;
const KIND_FAILED: u64 = 3;

impl Clone for Batch {
    fn clone(&self) -> Self {
        let content = match &self.content {
            Content::Empty => Content::Empty,
            Content::Data(data) => Content::Data(data.clone_data()),
            Content::Encoded { rows, bytes } => Content::Encoded {
                rows: *rows,
                bytes: bytes.clone(),
            },
            Content::Watermarks(updates) => Content::Watermarks(updates.clone()),
            Content::Failed { rows, message } => Content::Failed {
                rows: *rows,
                message: message.clone(),
            },
        };
        Batch {
            content,
            target: self.target,
            encoded: OnceCell::new(),
        }
    }
}

impl Accountable for Batch {
    fn record_count(&self) -> i64 {
        self.rows() as i64
    }
}

impl ContainerBytes for Batch {
    fn from_bytes(mut bytes: Bytes) -> Self {
        let word = |at: usize| {
            let mut word = [0u8; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let (kind, rows, payload) = (word(0), word(8) as usize, word(16) as usize);
        bytes.extract_to(HEADER);
        let bytes = bytes.extract_to(payload);
        let content = match kind {
            KIND_EMPTY => Content::Empty,
            KIND_DATA => Content::Encoded { rows, bytes },
            KIND_WATERMARKS => match bincode::deserialize(&bytes) {
                Ok(updates) => Content::Watermarks(updates),
                Err(error) => Content::Failed {
                    rows,
                    message: error.to_string(),
                },
            },
            _ => Content::Failed {
                rows,
                message: String::from_utf8_lossy(&bytes).into_owned(),
            },
        };
        Batch::from_content(content)
    }

    fn length_in_bytes(&self) -> usize {
        self.wire().len()
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        writer
            .write_all(self.wire())
            .expect("timely's buffer has the length that was asked for");
    }
}

/// Rows of a `DataStream<T>`: values, and their event timestamps when they have any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamBatch<T> {
    values: Vec<T>,
    /// Empty when no record has a timestamp; else one per value, [`NO_TIMESTAMP`] for none.
    timestamps: Vec<i64>,
}

impl<T> StreamBatch<T> {
    /// An empty batch.
    pub fn new() -> Self {
        StreamBatch {
            values: Vec::new(),
            timestamps: Vec::new(),
        }
    }

    /// An empty batch with room for `rows` values.
    pub fn with_capacity(rows: usize) -> Self {
        StreamBatch {
            values: Vec::with_capacity(rows),
            timestamps: Vec::new(),
        }
    }

    /// Values without timestamps.
    pub fn from_values(values: Vec<T>) -> Self {
        StreamBatch {
            values,
            timestamps: Vec::new(),
        }
    }

    /// Values with one timestamp each (milliseconds), or without any when `timestamps` is empty.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn from_parts(values: Vec<T>, timestamps: Vec<i64>) -> Self {
        assert!(
            timestamps.is_empty() || timestamps.len() == values.len(),
            "one timestamp per value"
        );
        StreamBatch { values, timestamps }
    }

    /// The values and the timestamps (empty when there are none).
    pub fn into_parts(self) -> (Vec<T>, Vec<i64>) {
        (self.values, self.timestamps)
    }

    /// The values.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The timestamps in milliseconds: one per value, or empty.
    pub fn timestamps(&self) -> &[i64] {
        &self.timestamps
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Appends a value without a timestamp.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.values.push(value);
        if !self.timestamps.is_empty() {
            self.timestamps.push(NO_TIMESTAMP);
        }
    }

    /// Appends a value with its timestamp; [`NO_TIMESTAMP`] means none.
    #[inline]
    pub fn push_at(&mut self, value: T, timestamp: i64) {
        if timestamp == NO_TIMESTAMP {
            self.push(value);
            return;
        }
        if self.timestamps.len() < self.values.len() {
            self.timestamps.resize(self.values.len(), NO_TIMESTAMP);
        }
        self.values.push(value);
        self.timestamps.push(timestamp);
    }

    /// The timestamp of the row `index`; [`NO_TIMESTAMP`] when it has none.
    #[inline]
    pub fn timestamp(&self, index: usize) -> i64 {
        self.timestamps.get(index).copied().unwrap_or(NO_TIMESTAMP)
    }

    /// Takes the batch and leaves an empty one.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, StreamBatch::new())
    }
}

impl<T> IntoIterator for StreamBatch<T> {
    type Item = (T, i64);
    type IntoIter = StreamBatchIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        StreamBatchIter {
            values: self.values.into_iter(),
            timestamps: self.timestamps.into_iter(),
        }
    }
}

/// Iterates over values with their timestamps ([`NO_TIMESTAMP`] for none).
pub struct StreamBatchIter<T> {
    values: std::vec::IntoIter<T>,
    timestamps: std::vec::IntoIter<i64>,
}

impl<T> Iterator for StreamBatchIter<T> {
    type Item = (T, i64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let value = self.values.next()?;
        Some((value, self.timestamps.next().unwrap_or(NO_TIMESTAMP)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.values.size_hint()
    }
}

impl<T> From<StreamBatch<T>> for Batch
where
    T: StreamData,
{
    fn from(batch: StreamBatch<T>) -> Self {
        Batch::new(batch)
    }
}

impl<T: StreamData> BatchData for StreamBatch<T> {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn clone_data(&self) -> Box<dyn BatchData> {
        Box::new(self.clone())
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        bincode::serialize_into(out, &(&self.values, &self.timestamps)).map_err(|error| {
            RuntimeError::user(format!(
                "cannot serialise a {}: {error}",
                std::any::type_name::<T>()
            ))
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The codec of a `DataStream<T>`'s edges: bincode.
pub struct StreamCodec<T>(PhantomData<fn() -> T>);

impl<T> StreamCodec<T> {
    /// The codec of `T`.
    pub fn new() -> Self {
        StreamCodec(PhantomData)
    }
}

impl<T> Default for StreamCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: StreamData> BatchCodec for StreamCodec<T> {
    fn decode(&self, bytes: &[u8], rows: usize) -> Result<Box<dyn BatchData>> {
        let failed = |reason: String| {
            RuntimeError::user(format!(
                "cannot read a {} that another process sent: {reason}",
                self.type_name()
            ))
        };
        let (values, timestamps): (Vec<T>, Vec<i64>) =
            bincode::deserialize(bytes).map_err(|error| failed(error.to_string()))?;
        if values.len() != rows || !(timestamps.is_empty() || timestamps.len() == rows) {
            return Err(failed(format!(
                "{} values where {rows} were announced",
                values.len()
            )));
        }
        Ok(Box::new(StreamBatch { values, timestamps }))
    }

    fn type_name(&self) -> String {
        std::any::type_name::<T>().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_the_wire(batch: &Batch) -> Batch {
        let mut bytes = Vec::new();
        batch.into_bytes(&mut bytes);
        assert_eq!(bytes.len(), batch.length_in_bytes());
        assert_eq!(bytes.len() % 8, 0);
        let length = bytes.len();
        let mut bytes = timely::bytes::arc::BytesMut::from(bytes).freeze();
        Batch::from_bytes(bytes.extract_to(length))
    }

    #[test]
    fn rows_keep_values_timestamps_and_count_between_processes() {
        let mut rows = StreamBatch::new();
        rows.push("a".to_string());
        rows.push_at("b".to_string(), 7);
        rows.push("c".to_string());
        let arrived = over_the_wire(&Batch::new(rows.clone()));
        assert_eq!(arrived.record_count(), 3);
        let decoded = arrived.decoded(&StreamCodec::<String>::new()).unwrap();
        assert_eq!(decoded.into_data::<StreamBatch<String>>().unwrap(), rows);
    }

    #[test]
    fn an_encoded_batch_can_be_sent_on() {
        let sent_twice =
            over_the_wire(&over_the_wire(&Batch::new(StreamBatch::from_values(vec![
                1u8, 2,
            ]))));
        let decoded = sent_twice.decoded(&StreamCodec::<u8>::new()).unwrap();
        assert_eq!(
            decoded.into_data::<StreamBatch<u8>>().unwrap().values(),
            &[1, 2]
        );
    }

    #[test]
    fn bytes_of_another_type_are_an_error() {
        let arrived = over_the_wire(&Batch::new(StreamBatch::from_values(vec![1u8])));
        assert!(arrived.decoded(&StreamCodec::<String>::new()).is_err());
        assert!(
            Batch::new(StreamBatch::from_values(vec![1u8]))
                .into_data::<StreamBatch<u16>>()
                .is_err()
        );
    }

    #[test]
    fn a_row_that_cannot_be_serialised_fails_where_it_arrives() {
        #[derive(Clone, serde::Deserialize)]
        struct Refuses;
        impl Serialize for Refuses {
            fn serialize<S: serde::Serializer>(
                &self,
                _: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("refused by the type"))
            }
        }
        let arrived = over_the_wire(&Batch::new(StreamBatch::from_values(vec![
            Refuses, Refuses,
        ])));
        assert_eq!(arrived.rows(), 2);
        let error = arrived
            .decoded(&StreamCodec::<Refuses>::new())
            .err()
            .unwrap();
        assert!(error.to_string().contains("refused by the type"), "{error}");
    }

    #[test]
    fn watermarks_travel() {
        let updates = vec![WatermarkUpdate {
            instance: 3,
            watermark: crate::time::Watermark::At(5),
        }];
        let arrived = over_the_wire(&Batch::from_content(Content::Watermarks(updates.clone())));
        match arrived.into_content() {
            Content::Watermarks(read) => assert_eq!(read, updates),
            _ => panic!("no watermarks"),
        }
    }
}

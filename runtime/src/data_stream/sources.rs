//! Streams from values in the program, and from lines of text.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::batch::{BATCH_ROWS, StreamBatch, StreamCodec, StreamData};
use crate::data_stream::DataStream;
use crate::data_stream::socket::SocketReader;
use crate::environment::StreamExecutionEnvironment;
use crate::error::{ConnectorFailure, Result, RuntimeError, SourceError, WithPath};
use crate::operator::{OperatorContext, Output, Restore, Snapshot};
use crate::source::{Boundedness, SourceReader, SourceStatus};
use crate::transformation::Transformation;

impl StreamExecutionEnvironment {
    /// A bounded stream of these values, read by worker 0.
    pub fn from_elements<T: StreamData>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> DataStream<T> {
        let values: Arc<Vec<T>> = Arc::new(values.into_iter().collect());
        let elements = Arc::clone(&values);
        let source = self.bounded("Elements", move || {
            Box::new(ElementsReader {
                values: Arc::clone(&values),
                next: 0,
            })
        });
        self.update(source.transformation(), |source| {
            source.elements = Some(elements);
        });
        source.set_parallelism(1)
    }

    /// As [`from_elements`](Self::from_elements).
    pub fn from_collection<T: StreamData>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> DataStream<T> {
        self.from_elements(values)
    }

    /// The integers from `first` to `last`, both included, read by all workers; each worker's part is in order.
    pub fn from_sequence(&self, first: i64, last: i64) -> DataStream<i64> {
        self.bounded("Sequence", move || {
            Box::new(SequenceReader {
                first,
                last,
                ranges: Vec::new(),
                share: (0, 1),
            })
        })
    }

    /// The lines of a text file, or of all files of a folder in the order of their names, without their ends. Whole
    /// files are read by the worker their path hashes to.
    pub fn read_text_file(&self, path: impl AsRef<Path>) -> DataStream<String> {
        let path = path.as_ref().to_path_buf();
        self.bounded("TextFile", move || {
            Box::new(TextReader {
                root: path.clone(),
                files: Vec::new(),
                current: None,
            })
        })
    }

    /// The lines that a server at `address` (`host:port`) sends, read by worker 0, until it closes the connection.
    /// Lines received before a failure are not sent again: exactly-once needs another source.
    pub fn socket_text_stream(&self, address: impl Into<String>) -> DataStream<String> {
        let address = address.into();
        let source = Transformation::source(
            "Socket",
            Boundedness::Unbounded,
            Arc::new(StreamCodec::<String>::new()),
            Arc::new(move || Box::new(SocketReader::new(address.clone()))),
        );
        DataStream::from_output(self, self.add(source.with_parallelism(1)), 0)
    }

    fn bounded<T: StreamData>(
        &self,
        name: &str,
        make: impl Fn() -> Box<dyn SourceReader> + Send + Sync + 'static,
    ) -> DataStream<T> {
        let codec = Arc::new(StreamCodec::<T>::new());
        let source = Transformation::source(name, Boundedness::Bounded, codec, Arc::new(make));
        DataStream::from_output(self, self.add(source), 0)
    }
}

const POSITION: &str = "position";

fn encode<S: serde::Serialize>(position: &S) -> Result<Vec<u8>> {
    bincode::serialize(position)
        .map_err(|cause| RuntimeError::internal(format!("cannot encode a position: {cause}")))
}

fn decode<S: serde::de::DeserializeOwned>(record: &[u8]) -> Result<S> {
    bincode::deserialize(record)
        .map_err(|cause| RuntimeError::user(format!("cannot read a source's position: {cause}")))
}

struct ElementsReader<T> {
    values: Arc<Vec<T>>,
    next: usize,
}

impl<T: StreamData> SourceReader for ElementsReader<T> {
    fn restore(&mut self, state: &Restore) -> Result<()> {
        for record in state.list(POSITION)? {
            self.next = usize::try_from(decode::<u64>(&record)?)
                .unwrap_or(usize::MAX)
                .min(self.values.len());
        }
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let end = self.values.len().min(self.next + max_rows.max(1));
        for values in self.values[self.next..end].chunks(BATCH_ROWS) {
            output.emit(0, StreamBatch::from_values(values.to_vec()));
        }
        self.next = end;
        Ok(if end == self.values.len() {
            SourceStatus::Finished
        } else {
            SourceStatus::Ready
        })
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(POSITION, "elements", vec![encode(&(self.next as u64))?]);
        Ok(())
    }
}

/// How many ranges a sequence is cut into. They are what workers share, whatever their number is after a restore.
const RANGES: usize = 64;

struct SequenceReader {
    first: i64,
    last: i64,
    /// The ranges of this worker that are not empty: the range's number, its next value and its end.
    ranges: Vec<(u64, i128, i128)>,
    share: (usize, usize),
}

impl SourceReader for SequenceReader {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.share = (context.worker, context.parallelism);
        let count = (i128::from(self.last) - i128::from(self.first) + 1).max(0);
        let bound = |range: usize| i128::from(self.first) + count * range as i128 / RANGES as i128;
        self.ranges = (0..RANGES)
            .filter(|range| range % context.parallelism == context.worker)
            .map(|range| (range as u64, bound(range), bound(range + 1)))
            .rev()
            .collect();
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let (worker, workers) = self.share;
        let mut ranges = Vec::new();
        for record in state.list(POSITION)? {
            let stored: Vec<(u64, i128, i128)> = decode(&record)?;
            ranges.extend(
                stored
                    .into_iter()
                    .filter(|(range, _, _)| *range as usize % workers == worker),
            );
        }
        ranges.sort_unstable_by_key(|(range, _, _)| std::cmp::Reverse(*range));
        self.ranges = ranges;
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let mut left = max_rows.max(1);
        while left > 0 {
            let Some((_, next, end)) = self.ranges.last_mut() else {
                return Ok(SourceStatus::Finished);
            };
            let rows = (*end - *next).min(left.min(BATCH_ROWS) as i128);
            if rows == 0 {
                self.ranges.pop();
                continue;
            }
            // The bounds were made from i64 values.
            let (from, to) = (*next as i64, (*next + rows - 1) as i64);
            output.emit(0, StreamBatch::from_values((from..=to).collect()));
            *next += rows;
            left -= rows as usize;
        }
        Ok(SourceStatus::Ready)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(POSITION, "ranges", vec![encode(&self.ranges)?]);
        Ok(())
    }
}

struct TextReader {
    root: PathBuf,
    /// The files of this worker that are not read to their end, the next one last: path and byte position.
    files: Vec<(PathBuf, u64)>,
    current: Option<BufReader<File>>,
}

impl TextReader {
    fn list(&self) -> Result<Vec<PathBuf>> {
        let root = self.root.as_path();
        if !std::fs::metadata(root).with_path(root)?.is_dir() {
            return Ok(vec![root.to_path_buf()]);
        }
        let mut files = Vec::new();
        for entry in std::fs::read_dir(root).with_path(root)? {
            let entry = entry.with_path(root)?;
            if entry.file_type().with_path(entry.path())?.is_file() {
                files.push(entry.path());
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn next_batch(&mut self, rows: usize) -> Result<Option<StreamBatch<String>>> {
        let Some((path, position)) = self.files.last_mut() else {
            return Ok(None);
        };
        let reader = match &mut self.current {
            Some(reader) => reader,
            None => {
                let mut file = File::open(&*path).with_path(&*path)?;
                file.seek(SeekFrom::Start(*position)).with_path(&*path)?;
                self.current.insert(BufReader::with_capacity(1 << 16, file))
            }
        };
        let mut batch = StreamBatch::with_capacity(rows);
        while batch.len() < rows {
            let mut line = Vec::new();
            let read = reader.read_until(b'\n', &mut line).with_path(&*path)?;
            if read == 0 {
                self.current = None;
                self.files.pop();
                return Ok(Some(batch));
            }
            let start = *position;
            *position += read as u64;
            while line
                .last()
                .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
            {
                line.pop();
            }
            let line = String::from_utf8(line).map_err(|_| {
                let message = format!(
                    "file '{}': the line at byte {start} is not UTF-8",
                    path.display()
                );
                SourceError::Record(Box::new(ConnectorFailure::user("text file", message)))
            })?;
            batch.push(line);
        }
        Ok(Some(batch))
    }
}

impl SourceReader for TextReader {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        let files = self.list()?.into_iter();
        let own = files.filter(|path| context.owns(crate::exchange::key_hash(path)));
        self.files = own.rev().map(|path| (path, 0)).collect();
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let mut positions = std::collections::BTreeMap::new();
        for record in state.list(POSITION)? {
            positions.extend(decode::<Vec<(PathBuf, u64)>>(&record)?);
        }
        // Files that are not mentioned were read to their end.
        self.files
            .retain_mut(|(path, position)| match positions.get(path) {
                Some(stored) => {
                    *position = *stored;
                    true
                }
                None => false,
            });
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        match self.next_batch(max_rows.clamp(1, BATCH_ROWS))? {
            Some(batch) => output.emit(0, batch),
            None => return Ok(SourceStatus::Finished),
        }
        Ok(SourceStatus::Ready)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(POSITION, "files", vec![encode(&self.files)?]);
        Ok(())
    }
}

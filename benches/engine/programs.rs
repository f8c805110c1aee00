//! What all programs share: rows in memory as input, and a digest of the rows as output, for the engine and for
//! hand-written timely programs.

use std::sync::Arc;

use aquifer_runtime::time::WatermarkStrategy;
use aquifer_runtime::{
    BATCH_ROWS, Boundedness, Configuration, DataStream, OperatorContext, Result, Sink, SinkWriter,
    Source, SourceOutput, SourceStatus, SplitReader, StreamBatch, StreamData,
    StreamExecutionEnvironment,
};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::Input as _;
use timely::dataflow::operators::probe::Handle as ProbeHandle;
use timely::dataflow::{InputHandle, Scope, StreamVec};

use crate::harness::{Digest, Tally};

/// Rows of one source in one epoch: the engine's default.
pub(crate) const EPOCH_ROWS: usize = 262_144;

/// Rows read before the dataflow gets to work, in hand-written programs.
const STEP_ROWS: usize = 4_096;

/// Open epochs before a source waits: the engine's default.
const OPEN_EPOCHS: u64 = 3;

/// The part of `rows` that worker `index` of `workers` reads.
pub(crate) fn share<T>(rows: &[T], index: usize, workers: usize) -> &[T] {
    &rows[rows.len() * index / workers..rows.len() * (index + 1) / workers]
}

/// An environment for one run.
pub(crate) fn environment(workers: usize) -> StreamExecutionEnvironment {
    StreamExecutionEnvironment::create_local_with(workers, Configuration::new())
}

/// Gives rows that are in memory, once or several times; each worker a range.
pub(crate) struct MemorySource<T> {
    pub(crate) rows: Arc<Vec<T>>,
    pub(crate) passes: usize,
}

struct MemoryReader<T> {
    rows: Arc<Vec<T>>,
    passes: usize,
    start: usize,
    next: usize,
    end: usize,
}

impl<T: StreamData> Source for MemorySource<T> {
    type Item = T;

    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn create_reader(&self, context: &OperatorContext) -> Result<Box<dyn SplitReader<T>>> {
        let (len, of) = (self.rows.len(), context.parallelism);
        let start = len * context.worker / of;
        Ok(Box::new(MemoryReader {
            rows: Arc::clone(&self.rows),
            passes: self.passes,
            start,
            next: start,
            end: len * (context.worker + 1) / of,
        }))
    }
}

impl<T: StreamData> SplitReader<T> for MemoryReader<T> {
    fn restore(&mut self, _positions: Vec<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    fn poll(&mut self, output: &mut SourceOutput<'_, T>) -> Result<SourceStatus> {
        let end = self.end.min(self.next + output.remaining());
        for batch in self.rows[self.next..end].chunks(BATCH_ROWS) {
            output.collect_batch(0, StreamBatch::from_values(batch.to_vec()));
        }
        self.next = end;
        if end < self.end {
            return Ok(SourceStatus::Ready);
        }
        self.passes -= 1;
        self.next = self.start;
        Ok(match self.passes {
            0 => SourceStatus::Finished,
            _ => SourceStatus::Ready,
        })
    }

    fn positions(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
}

/// The rows as a stream without watermarks.
pub(crate) fn rows_stream<T: StreamData>(
    env: &StreamExecutionEnvironment,
    rows: &Arc<Vec<T>>,
) -> DataStream<T> {
    rows_repeated(env, rows, 1)
}

/// The rows several times over.
pub(crate) fn rows_repeated<T: StreamData>(
    env: &StreamExecutionEnvironment,
    rows: &Arc<Vec<T>>,
    passes: usize,
) -> DataStream<T> {
    let source = MemorySource {
        rows: Arc::clone(rows),
        passes,
    };
    env.from_source(source, WatermarkStrategy::no_watermarks(), "rows")
}

/// Adds up the digests of batches of rows.
pub(crate) struct DigestSink<T> {
    tally: Tally,
    digest: fn(&mut Digest, &T),
}

struct DigestWriter<T> {
    tally: Tally,
    digest: fn(&mut Digest, &T),
}

impl<T: StreamData> Sink for DigestSink<T> {
    type Item = T;

    fn create_writer(&self, _context: &OperatorContext) -> Result<Box<dyn SinkWriter<T>>> {
        Ok(Box::new(DigestWriter {
            tally: self.tally.clone(),
            digest: self.digest,
        }))
    }
}

impl<T: StreamData> SinkWriter<T> for DigestWriter<T> {
    fn write(&mut self, values: Vec<T>) -> Result<()> {
        self.tally.merge(digest_of(&values, self.digest));
        Ok(())
    }
}

fn digest_of<T>(rows: &[T], digest: fn(&mut Digest, &T)) -> Digest {
    let mut part = Digest::default();
    rows.iter().for_each(|row| digest(&mut part, row));
    part
}

/// Runs the engine's job that ends in `stream`.
pub(crate) fn run_engine<T: StreamData>(
    stream: &DataStream<T>,
    digest: fn(&mut Digest, &T),
) -> Digest {
    let tally = Tally::default();
    stream.sink_to(DigestSink {
        tally: tally.clone(),
        digest,
    });
    stream
        .environment()
        .execute()
        .expect("a bench's job succeeds");
    tally.total()
}

/// The input of a hand-written program.
pub(crate) type Input<T> = InputHandle<u64, CapacityContainerBuilder<Vec<T>>>;

/// Runs a hand-written program: `build` makes the dataflow from the inputs' streams and attaches the probe.
pub(crate) fn run_timely<T: StreamData>(
    workers: usize,
    inputs: Vec<Arc<Vec<T>>>,
    build: impl for<'s> Fn(Scope<'s, u64>, Vec<StreamVec<'s, u64, T>>, &Tally, &ProbeHandle<u64>)
    + Send
    + Sync
    + 'static,
) -> Digest {
    let tally = Tally::default();
    let result = tally.clone();
    let config = match workers {
        1 => timely::Config::thread(),
        _ => timely::Config::process(workers),
    };
    timely::execute(config, move |worker| {
        let mut handles: Vec<Input<T>> = inputs.iter().map(|_| Input::new()).collect();
        let probe = ProbeHandle::new();
        worker.dataflow::<u64, _, _>(|scope| {
            let streams = handles
                .iter_mut()
                .map(|input| scope.input_from(input))
                .collect();
            build(scope, streams, &tally, &probe);
        });
        let shares: Vec<&[T]> = inputs
            .iter()
            .map(|rows| share(rows, worker.index(), worker.peers()))
            .collect();
        let longest = shares.iter().map(|share| share.len()).max().unwrap_or(0);
        for epoch in 0..longest.div_ceil(EPOCH_ROWS) {
            let from = epoch * EPOCH_ROWS;
            for step in (from..from + EPOCH_ROWS).step_by(STEP_ROWS) {
                for (share, input) in shares.iter().zip(&mut handles) {
                    let rows = &share[step.min(share.len())..(step + STEP_ROWS).min(share.len())];
                    for batch in rows.chunks(BATCH_ROWS) {
                        input.send_batch(&mut batch.to_vec());
                    }
                }
                worker.step();
            }
            let next = epoch as u64 + 1;
            handles.iter_mut().for_each(|input| input.advance_to(next));
            while next > OPEN_EPOCHS && probe.less_than(&(next - OPEN_EPOCHS)) {
                worker.step();
            }
        }
        drop(handles);
        while !probe.done() {
            worker.step_or_park(None);
        }
    })
    .expect("timely starts")
    .join()
    .into_iter()
    .for_each(|worker| worker.expect("a worker ends well"));
    result.total()
}

/// Ends a hand-written program's stream.
pub(crate) fn digest_rows<'s, T: 'static>(
    stream: StreamVec<'s, u64, T>,
    tally: &Tally,
    probe: &ProbeHandle<u64>,
    digest: fn(&mut Digest, &T),
) {
    use timely::dataflow::channels::pact::Pipeline;
    use timely::dataflow::operators::generic::Operator;
    let tally = tally.clone();
    let ends: StreamVec<'s, u64, ()> = stream.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
        Pipeline,
        "digest",
        move |_capability, _info| {
            move |input, _output| {
                input.for_each(|_, rows| tally.merge(digest_of(rows, digest)));
            }
        },
    );
    timely::dataflow::operators::Probe::probe_with(ends, probe);
}

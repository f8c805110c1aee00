//! Figures about jobs rather than rows: what an idle job costs, how much faster two workers are, how long an epoch
//! takes under half the load, and how long a checkpoint stops the rows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aquifer_runtime::config::options;
use aquifer_runtime::time::WatermarkStrategy;
use aquifer_runtime::{
    BATCH_ROWS, Boundedness, DataStream, JobClient, OperatorContext, Result, Source, SourceOutput,
    SourceStatus, SplitReader, StreamBatch, StreamExecutionEnvironment,
};
use rustix::time::{ClockId, clock_gettime};

use crate::harness::{Scale, figure, measured};
use crate::keyed::{self, KEYS, Sale, Totals};
use crate::programs::environment;
use crate::stateless;

/// Emits sales at a rate, for ever: first those of all keys as fast as it can, then `rate` in a second.
struct PacedSource {
    preload: u64,
    rate: u64,
    gaps: Arc<Gaps>,
}

/// How long the worker was away between two polls.
#[derive(Default)]
struct Gaps {
    longest: Mutex<(Duration, Duration)>,
    emitted: AtomicU64,
}

impl Gaps {
    fn add(&self, wall: Duration, cpu: Duration) {
        let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
        *longest = (longest.0.max(wall), longest.1.max(cpu));
    }

    /// The longest times by the clock and by the thread's CPU clock since the last call.
    fn take(&self) -> (Duration, Duration) {
        std::mem::take(&mut *self.longest.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct PacedReader {
    preload: u64,
    rate: u64,
    gaps: Arc<Gaps>,
    next: u64,
    paced_since: Option<Instant>,
    last: Option<(Instant, Duration)>,
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

impl Source for PacedSource {
    type Item = Sale;

    fn boundedness(&self) -> Boundedness {
        Boundedness::Unbounded
    }

    fn create_reader(&self, context: &OperatorContext) -> Result<Box<dyn SplitReader<Sale>>> {
        let alone = context.worker == 0;
        Ok(Box::new(PacedReader {
            preload: if alone { self.preload } else { 0 },
            rate: if alone { self.rate } else { 0 },
            gaps: Arc::clone(&self.gaps),
            next: 0,
            paced_since: None,
            last: None,
        }))
    }
}

impl SplitReader<Sale> for PacedReader {
    fn restore(&mut self, positions: Vec<Vec<u8>>) -> Result<()> {
        let position = positions.into_iter().next().unwrap_or_default();
        if let Ok(bytes) = position.try_into() {
            self.next = u64::from_le_bytes(bytes);
        }
        Ok(())
    }

    fn poll(&mut self, output: &mut SourceOutput<'_, Sale>) -> Result<SourceStatus> {
        let (now, cpu) = (Instant::now(), thread_time());
        let due = if self.next < self.preload {
            self.preload
        } else {
            let since = *self.paced_since.get_or_insert(now);
            if let Some((wall, thread)) = self.last {
                self.gaps.add(now - wall, cpu - thread);
            }
            self.preload + (now - since).as_millis() as u64 * self.rate / 1000
        };
        self.last = Some((now, cpu));
        let end = due.min(self.next + output.remaining() as u64);
        while self.next < end {
            let to = end.min(self.next + BATCH_ROWS as u64);
            // The first rows are one for each key.
            let rows = (self.next..to).map(|row| match row {
                key if key < KEYS => Sale {
                    key: key as i64,
                    amount: 1,
                },
                row => keyed::sale(row),
            });
            output.collect_batch(0, StreamBatch::from_values(rows.collect()));
            self.next = to;
        }
        self.gaps.emitted.store(self.next, Ordering::Relaxed);
        Ok(if self.next < due {
            SourceStatus::Ready
        } else {
            SourceStatus::Waiting(Duration::from_millis(1))
        })
    }

    fn positions(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(vec![self.next.to_le_bytes().to_vec()])
    }
}

/// A job that counts, sums and keeps the largest amount per key, over paced sales.
struct Paced {
    job: JobClient,
    gaps: Arc<Gaps>,
}

impl Paced {
    fn start(env: &StreamExecutionEnvironment, preload: u64, rate: u64) -> Self {
        let gaps = Arc::new(Gaps::default());
        let source = PacedSource {
            preload,
            rate,
            gaps: Arc::clone(&gaps),
        };
        let sales: DataStream<Sale> = env
            .from_source(source, WatermarkStrategy::no_watermarks(), "sales")
            .uid("sales");
        sales
            .map(keyed::first)
            .key_by(|totals: &Totals| totals.key)
            .reduce(keyed::add)
            .uid("totals")
            .for_each(drop)
            .uid("sink");
        let job = env.execute_async("paced").expect("a bench's job starts");
        while gaps.emitted.load(Ordering::Relaxed) < preload {
            pause(Duration::from_millis(10));
        }
        Paced { job, gaps }
    }

    fn stop(self) {
        self.job.cancel().expect("the job runs");
        let _ = self.job.await_result();
    }
}

fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// A job of twenty operators that has nothing to do.
pub(crate) fn idle(scale: Scale) {
    let env = environment(1);
    let gaps = Arc::new(Gaps::default());
    let source = PacedSource {
        preload: 0,
        rate: 0,
        gaps,
    };
    let mut stream: DataStream<Sale> =
        env.from_source(source, WatermarkStrategy::no_watermarks(), "sales");
    for step in 0..19 {
        stream = if step % 2 == 0 {
            stream.map(|sale| sale).disable_chaining()
        } else {
            stream.key_by(|sale: &Sale| sale.key).reduce(|_, sale| sale)
        };
    }
    stream.for_each(drop);
    let job = env.execute_async("idle").expect("a bench's job starts");
    pause(Duration::from_millis(500));
    let time = Duration::from_secs(if scale.quick { 3 } else { 10 });
    let (cost, ()) = measured(|| pause(time));
    job.cancel().expect("the job runs");
    let _ = job.await_result();
    figure(
        "idle job",
        "20 operators",
        &format!(
            "{:.2} % CPU",
            cost.cpu.as_secs_f64() / cost.wall.as_secs_f64() * 100.0
        ),
        "< 1 % CPU",
    );
}

/// The same job on one worker and on two.
pub(crate) fn scaling(scale: Scale) {
    let readings = stateless::readings(scale.rows(8_000_000));
    let sales = keyed::sales(scale.rows(8_000_000));
    type Run<'a> = Box<dyn Fn(usize) + 'a>;
    let programs: [(&str, Run<'_>); 2] = [
        (
            "stateless chain",
            Box::new(|workers| {
                stateless::data_stream(workers, &readings, 16);
            }),
        ),
        (
            "keyed",
            Box::new(|workers| {
                keyed::data_stream(workers, &sales);
            }),
        ),
    ];
    for (name, run) in programs {
        run(2);
        let rounds: Vec<_> = (0..scale.rounds)
            .map(|_| [1, 2].map(|workers| measured(|| run(workers)).0))
            .collect();
        let median = |ratio: fn(&[crate::harness::Cost; 2]) -> f64| {
            let mut ratios: Vec<f64> = rounds.iter().map(ratio).collect();
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        let wall = median(|[one, two]| one.wall.as_secs_f64() / two.wall.as_secs_f64());
        let cpu = median(|[one, two]| two.cpu.as_secs_f64() / one.cpu.as_secs_f64());
        figure(
            "2 workers against 1",
            name,
            &format!("{wall:.2} x by the clock, {cpu:.2} x the CPU time"),
            ">= 1.7 x on two free cores, CPU <= 1.18 x",
        );
    }
}

/// How long epochs are open while rows come at half the rate that one worker can take.
pub(crate) fn latency(scale: Scale) {
    let rows = keyed::sales(2_000_000);
    keyed::data_stream(1, &rows);
    let (cost, _) = measured(|| keyed::data_stream(1, &rows));
    let rate = (rows.len() as f64 / cost.cpu.as_secs_f64() / 2.0) as u64;
    let env = environment(1);
    let paced = Paced::start(&env, 0, rate);
    pause(Duration::from_secs(if scale.quick { 4 } else { 20 }));
    let latency = paced.job.metrics().job_metrics.epoch_latency_micros;
    paced.stop();
    let millis = |micros: u64| micros as f64 / 1000.0;
    figure(
        "epoch latency",
        "half the peak rate",
        &format!(
            "{rate} rows/s, {} epochs: p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            latency.count(),
            millis(latency.quantile(0.5)),
            millis(latency.quantile(0.99)),
            millis(latency.max())
        ),
        "p99 <= 10 ms",
    );
}

/// How long rows wait for a checkpoint of a million keys, and how long it takes.
pub(crate) fn checkpoint(scale: Scale) {
    let folder = std::env::temp_dir().join(format!("aquifer-bench-{}", std::process::id()));
    let env = environment(1);
    let paced = Paced::start(&env, KEYS, 100_000);
    pause(Duration::from_secs(1));
    let (mut usual, mut during, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..scale.rounds {
        paced.gaps.take();
        pause(Duration::from_millis(500));
        usual.push(paced.gaps.take());
        let (cost, savepoint) = measured(|| paced.job.trigger_savepoint(Some(folder.clone())));
        last = Some(savepoint.expect("the savepoint can be written"));
        times.push(cost.wall);
        pause(Duration::from_millis(100));
        during.push(paced.gaps.take());
    }
    paced.stop();
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    let wall = |gaps: &[(Duration, Duration)]| median(gaps.iter().map(|gap| millis(gap.0)));
    let cpu = |gaps: &[(Duration, Duration)]| median(gaps.iter().map(|gap| millis(gap.1)));
    figure(
        "checkpoint",
        "1 M keys, pause",
        &format!(
            "{:.1} ms by the clock, {:.1} ms of CPU (without a checkpoint {:.1} and {:.1})",
            wall(&during),
            cpu(&during),
            wall(&usual),
            cpu(&usual)
        ),
        "<= 50 ms",
    );
    figure(
        "checkpoint",
        "1 M keys, written",
        &format!("{:.0} ms", median(times.into_iter().map(millis))),
        "none",
    );
    let env = environment(1);
    env.set(&options::STATE_RECOVERY_PATH, last);
    let (cost, paced) = measured(|| {
        let paced = Paced::start(&env, 0, 0);
        while paced
            .job
            .metrics()
            .operators
            .iter()
            .all(|operator| operator.state_keys < KEYS)
        {
            pause(Duration::from_millis(1));
        }
        paced
    });
    paced.stop();
    figure(
        "checkpoint",
        "1 M keys, restored",
        &format!(
            "{:.0} ms, {:.0} ms of CPU",
            millis(cost.wall),
            millis(cost.cpu)
        ),
        "none",
    );
    let _ = std::fs::remove_dir_all(folder);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

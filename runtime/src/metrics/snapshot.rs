//! Values of metrics at one time: to be sent, merged and shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::OperatorMetrics;

/// A distribution of whole numbers: values with how often they were seen. Values are rounded up to 1 %.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Ascending.
    buckets: Vec<(u64, u64)>,
}

impl Distribution {
    /// From values, ascending, with their counts.
    pub(super) fn new(buckets: Vec<(u64, u64)>) -> Self {
        Self { buckets }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// The sum of all values.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.buckets
            .iter()
            .map(|(value, count)| u128::from(*value) * u128::from(*count))
            .sum()
    }

    /// The smallest value that a fraction `q` (0 to 1) of all values does not exceed; 0 when there are none.
    #[must_use]
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = (q.clamp(0.0, 1.0) * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (value, count) in &self.buckets {
            seen += count;
            if seen >= wanted {
                return *value;
            }
        }
        self.max()
    }

    /// The largest value; 0 when there are none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.buckets.last().map_or(0, |(value, _)| *value)
    }

    fn merge(&mut self, other: Self) {
        let mut merged: BTreeMap<u64, u64> = self.buckets.drain(..).collect();
        for (value, count) in other.buckets {
            *merged.entry(value).or_default() += count;
        }
        self.buckets = merged.into_iter().collect();
    }
}

/// The value of a metric that user code defined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum UserMetric {
    /// A number of events.
    Counter(u64),
    /// A value that goes up and down.
    Gauge(f64),
    /// A distribution.
    Histogram(Distribution),
}

/// The metrics of one operator on one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorMetricsSnapshot {
    /// Stable id of the operator.
    pub uid: String,
    /// Name of the operator.
    pub name: String,
    /// Index of the worker.
    pub worker: usize,
    /// Rows taken in.
    pub records_in: u64,
    /// Rows emitted.
    pub records_out: u64,
    /// Batches taken in.
    pub batches_in: u64,
    /// Time spent in the operator's code.
    pub busy_nanos: u64,
    /// Bytes of state.
    pub state_bytes: u64,
    /// Keys held.
    pub state_keys: u64,
    /// The watermark in milliseconds; none before the first.
    pub watermark_ms: Option<i64>,
    /// The epoch it works on.
    pub epoch: u64,
    /// Rows dropped because they came too late.
    pub late_records: u64,
    /// Rows skipped because they could not be read.
    pub skipped_records: u64,
    /// The user's metrics by name, counters first, then gauges, then histograms.
    pub user: Vec<(String, UserMetric)>,
}

impl OperatorMetricsSnapshot {
    pub(super) fn new(uid: &str, name: &str, worker: usize, metrics: &OperatorMetrics) -> Self {
        let watermark = metrics.watermark.load(Ordering::Relaxed);
        Self {
            uid: uid.to_owned(),
            name: name.to_owned(),
            worker,
            records_in: metrics.records_in.load(Ordering::Relaxed),
            records_out: metrics.records_out.load(Ordering::Relaxed),
            batches_in: metrics.batches_in.load(Ordering::Relaxed),
            busy_nanos: metrics.busy_nanos.load(Ordering::Relaxed),
            state_bytes: metrics.state_bytes.load(Ordering::Relaxed),
            state_keys: metrics.state_keys.load(Ordering::Relaxed),
            watermark_ms: (watermark != i64::MIN).then_some(watermark),
            epoch: metrics.epoch.load(Ordering::Relaxed),
            late_records: metrics.late_records.load(Ordering::Relaxed),
            skipped_records: metrics.skipped_records.load(Ordering::Relaxed),
            user: metrics.user.snapshot(),
        }
    }

    /// Adds another instance of the same operator.
    fn add(&mut self, other: &Self) {
        self.records_in += other.records_in;
        self.records_out += other.records_out;
        self.batches_in += other.batches_in;
        self.busy_nanos += other.busy_nanos;
        self.state_bytes += other.state_bytes;
        self.state_keys += other.state_keys;
        self.late_records += other.late_records;
        self.skipped_records += other.skipped_records;
        self.watermark_ms = self.watermark_ms.min(other.watermark_ms);
        self.epoch = self.epoch.min(other.epoch);
    }
}

/// The metrics of a job as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobMetricsSnapshot {
    /// Time from the announcement of an epoch to its close behind all sinks.
    pub epoch_latency_micros: Distribution,
    /// Epochs that are announced and not closed.
    pub open_epochs: u64,
    /// Restarts after failures.
    pub restarts: u64,
    /// Completed checkpoints.
    pub checkpoints_completed: u64,
    /// Checkpoints that were given up.
    pub checkpoints_failed: u64,
    /// The last completed checkpoint; 0 before the first.
    pub last_checkpoint_id: u64,
    /// How long it took.
    pub last_checkpoint_duration_ms: u64,
    /// How large it is.
    pub last_checkpoint_size_bytes: u64,
}

impl JobMetricsSnapshot {
    /// Half of the epochs closed within this many milliseconds.
    #[must_use]
    pub fn epoch_latency_ms_p50(&self) -> f64 {
        self.epoch_latency_micros.quantile(0.5) as f64 / 1000.0
    }

    /// 99 % of the epochs closed within this many milliseconds.
    #[must_use]
    pub fn epoch_latency_ms_p99(&self) -> f64 {
        self.epoch_latency_micros.quantile(0.99) as f64 / 1000.0
    }

    /// All epochs closed within this many milliseconds.
    #[must_use]
    pub fn epoch_latency_ms_max(&self) -> f64 {
        self.epoch_latency_micros.max() as f64 / 1000.0
    }

    /// One process writes these, so of each number the larger is the one that was written.
    fn merge(&mut self, other: Self) {
        self.epoch_latency_micros.merge(other.epoch_latency_micros);
        if other.last_checkpoint_id > self.last_checkpoint_id {
            self.last_checkpoint_id = other.last_checkpoint_id;
            self.last_checkpoint_duration_ms = other.last_checkpoint_duration_ms;
            self.last_checkpoint_size_bytes = other.last_checkpoint_size_bytes;
        }
        self.open_epochs = self.open_epochs.max(other.open_epochs);
        self.restarts = self.restarts.max(other.restarts);
        self.checkpoints_completed = self.checkpoints_completed.max(other.checkpoints_completed);
        self.checkpoints_failed = self.checkpoints_failed.max(other.checkpoints_failed);
    }
}

/// All metrics of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsSnapshot {
    /// Name of the job.
    pub job: String,
    /// The job as a whole.
    pub job_metrics: JobMetricsSnapshot,
    /// The operator instances, by uid and worker.
    pub operators: Vec<OperatorMetricsSnapshot>,
}

impl MetricsSnapshot {
    /// Adds what another process measured about the same job.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.job_metrics.merge(other.job_metrics);
        self.operators.extend(other.operators);
        self.operators
            .sort_by(|a, b| (&a.uid, a.worker).cmp(&(&b.uid, b.worker)));
        self
    }

    /// One entry per operator, summed over its workers; watermark and epoch are the lowest. The user's
    /// metrics are left out.
    #[must_use]
    pub fn by_operator(&self) -> Vec<OperatorMetricsSnapshot> {
        let mut sums: Vec<OperatorMetricsSnapshot> = Vec::new();
        for instance in &self.operators {
            match sums.iter_mut().find(|sum| sum.uid == instance.uid) {
                Some(sum) => sum.add(instance),
                None => sums.push(OperatorMetricsSnapshot {
                    user: Vec::new(),
                    ..instance.clone()
                }),
            }
        }
        sums
    }
}

const COLUMNS: [&str; 10] = [
    "operator",
    "uid",
    "records in",
    "records out",
    "busy ms",
    "keys",
    "state bytes",
    "watermark",
    "late",
    "skipped",
];

impl fmt::Display for MetricsSnapshot {
    /// A line about the job, and a table with one line per operator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = &self.job_metrics;
        writeln!(
            f,
            "job '{}': epochs {}, latency ms p50 {:.1} p99 {:.1} max {:.1}, open {}; checkpoints {} (failed {}), \
             last {} bytes in {} ms; restarts {}",
            self.job,
            job.epoch_latency_micros.count(),
            job.epoch_latency_ms_p50(),
            job.epoch_latency_ms_p99(),
            job.epoch_latency_ms_max(),
            job.open_epochs,
            job.checkpoints_completed,
            job.checkpoints_failed,
            job.last_checkpoint_size_bytes,
            job.last_checkpoint_duration_ms,
            job.restarts,
        )?;
        let mut lines = vec![COLUMNS.map(str::to_owned)];
        lines.extend(self.by_operator().into_iter().map(cells));
        let mut widths = [0; COLUMNS.len()];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for line in &lines {
            let mut text = String::new();
            for (index, (cell, width)) in line.iter().zip(widths).enumerate() {
                // Words to the left, numbers to the right.
                if index < 2 {
                    text.push_str(&format!("{cell:<width$}  "));
                } else {
                    text.push_str(&format!("{cell:>width$}  "));
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

fn cells(operator: OperatorMetricsSnapshot) -> [String; COLUMNS.len()] {
    [
        operator.name,
        operator.uid,
        operator.records_in.to_string(),
        operator.records_out.to_string(),
        (operator.busy_nanos / 1_000_000).to_string(),
        operator.state_keys.to_string(),
        operator.state_bytes.to_string(),
        operator
            .watermark_ms
            .map_or_else(|| "-".to_owned(), |watermark| watermark.to_string()),
        operator.late_records.to_string(),
        operator.skipped_records.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::MetricsRegistry;
    use super::*;

    #[test]
    fn quantiles() {
        let registry = MetricsRegistry::new("orders");
        for millis in 1..=100 {
            registry
                .job_metrics()
                .epoch_closed(Duration::from_millis(millis));
        }
        let job = registry.snapshot().job_metrics;
        let close = |found: f64, wanted: f64| (found - wanted).abs() <= wanted * 0.01;
        assert!(close(job.epoch_latency_ms_p50(), 50.0), "{job:?}");
        assert!(close(job.epoch_latency_ms_p99(), 99.0), "{job:?}");
        assert!(close(job.epoch_latency_ms_max(), 100.0), "{job:?}");
        assert_eq!(job.epoch_latency_micros.count(), 100);
        let empty = Distribution::default();
        assert_eq!((empty.quantile(0.5), empty.max(), empty.sum()), (0, 0, 0));
    }

    #[test]
    fn processes_merge_and_workers_sum() {
        let snapshot = |worker: usize, rows: u64, watermark: i64| {
            let registry = MetricsRegistry::new("orders");
            let metrics = registry.operator("agg", "count words", worker);
            metrics.records_in.fetch_add(rows, Ordering::Relaxed);
            metrics.watermark.store(watermark, Ordering::Relaxed);
            metrics.user.counter("seen").inc();
            if worker == 0 {
                let job = registry.job_metrics();
                job.checkpoint_completed(7, Duration::from_millis(12), 99);
                job.set_open_epochs(2);
            }
            assert!(std::ptr::eq(
                &*metrics,
                &*registry.operator("agg", "count words", worker)
            ));
            registry.snapshot()
        };
        let merged = snapshot(1, 5, 40).merge(snapshot(0, 3, i64::MIN));
        assert_eq!(merged.operators.len(), 2);
        assert_eq!(merged.operators[0].worker, 0);
        assert_eq!(merged.job_metrics.last_checkpoint_size_bytes, 99);
        let sums = merged.by_operator();
        assert_eq!(
            (sums.len(), sums[0].records_in, sums[0].watermark_ms),
            (1, 8, None)
        );
        let json = serde_json::to_string(&merged).unwrap();
        assert_eq!(
            serde_json::from_str::<MetricsSnapshot>(&json).unwrap(),
            merged
        );
        let text = merged.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].contains("last 99 bytes in 12 ms"), "{text}");
        assert!(
            lines[1].starts_with("operator     uid  records in"),
            "{text}"
        );
        assert!(
            lines[2].starts_with("count words  agg           8"),
            "{text}"
        );
    }
}

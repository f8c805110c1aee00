//! Metrics that user code defines: counters, gauges, histograms, by name within an operator instance.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::snapshot::{Distribution, UserMetric};

/// Largest value that a histogram tells apart from larger ones; larger ones count as this.
const HIGHEST: u64 = 1 << 50;
/// Two digits keep a histogram small; quantiles are good to 1 %.
const DIGITS: u8 = 2;

/// A number of events. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.inc_by(1);
    }

    /// Adds `n`.
    pub fn inc_by(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The number so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A value that goes up and down. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// The value that was set last; 0 at first.
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// A distribution of whole numbers. Clones record together.
#[derive(Clone)]
pub struct Histogram(Arc<Mutex<hdrhistogram::Histogram<u64>>>);

impl Default for Histogram {
    fn default() -> Self {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, DIGITS)
            .expect("the bounds and digits are within what the library allows");
        Self(Arc::new(Mutex::new(histogram)))
    }
}

impl Histogram {
    /// Records one value.
    pub fn update(&self, value: u64) {
        self.0.lock().saturating_record(value);
    }

    /// What was recorded.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let histogram = self.0.lock();
        let buckets = histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect();
        Distribution::new(buckets)
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Histogram({} values)", self.0.lock().len())
    }
}

/// The user's metrics of one operator instance. Clones are the same group.
#[derive(Clone, Debug, Default)]
pub struct MetricGroup(Arc<Mutex<Metrics>>);

#[derive(Debug, Default)]
struct Metrics {
    counters: BTreeMap<String, Counter>,
    gauges: BTreeMap<String, Gauge>,
    histograms: BTreeMap<String, Histogram>,
}

impl MetricGroup {
    /// The counter `name`, made at the first call. Keep it; do not ask for it per row.
    pub fn counter(&self, name: &str) -> Counter {
        named(&mut self.0.lock().counters, name)
    }

    /// The gauge `name`, made at the first call.
    pub fn gauge(&self, name: &str) -> Gauge {
        named(&mut self.0.lock().gauges, name)
    }

    /// The histogram `name`, made at the first call.
    pub fn histogram(&self, name: &str) -> Histogram {
        named(&mut self.0.lock().histograms, name)
    }

    /// The values, counters first, each kind by name.
    pub(super) fn snapshot(&self) -> Vec<(String, UserMetric)> {
        let metrics = self.0.lock();
        let counters = metrics
            .counters
            .iter()
            .map(|(name, counter)| (name.clone(), UserMetric::Counter(counter.count())));
        let gauges = metrics
            .gauges
            .iter()
            .map(|(name, gauge)| (name.clone(), UserMetric::Gauge(gauge.value())));
        let histograms = metrics.histograms.iter().map(|(name, histogram)| {
            (
                name.clone(),
                UserMetric::Histogram(histogram.distribution()),
            )
        });
        counters.chain(gauges).chain(histograms).collect()
    }
}

fn named<M: Clone + Default>(metrics: &mut BTreeMap<String, M>, name: &str) -> M {
    if let Some(metric) = metrics.get(name) {
        return metric.clone();
    }
    metrics.entry(name.to_owned()).or_default().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_metric() {
        let group = MetricGroup::default();
        group.counter("a").inc();
        group.clone().counter("a").inc_by(2);
        group.gauge("a").set(-1.5);
        group.histogram("h").update(u64::MAX);
        let snapshot = group.snapshot();
        assert_eq!(snapshot[0], ("a".to_owned(), UserMetric::Counter(3)));
        assert_eq!(snapshot[1], ("a".to_owned(), UserMetric::Gauge(-1.5)));
        assert_eq!(snapshot.len(), 3);
    }
}

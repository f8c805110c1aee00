//! Metrics in the text format of Prometheus (exposition format 0.0.4).

use std::fmt::Write;

use super::snapshot::{Distribution, MetricsSnapshot, OperatorMetricsSnapshot, UserMetric};

/// A metric: its name without our prefix, its type, its help, and where its value comes from.
type Metric<T, V> = (&'static str, &'static str, &'static str, fn(&T) -> V);

const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// All metrics of all `jobs`. Each metric stands in one block, as the format asks.
#[must_use]
pub fn render_prometheus(jobs: &[MetricsSnapshot]) -> String {
    let mut page = Page(String::new());
    render_jobs(&mut page, jobs);
    render_operators(&mut page, jobs);
    render_user(&mut page, jobs);
    page.0
}

fn render_jobs(page: &mut Page, jobs: &[MetricsSnapshot]) {
    page.head(
        "aquifer_epoch_latency_seconds",
        "summary",
        "Time from the announcement of an epoch to its close behind all sinks.",
    );
    for job in jobs {
        let latency = &job.job_metrics.epoch_latency_micros;
        let labels = [("job", job.job.as_str())];
        page.summary("aquifer_epoch_latency_seconds", &labels, latency, 1e-6);
    }
    let numbers: [Metric<MetricsSnapshot, f64>; 7] = [
        (
            "open_epochs",
            "gauge",
            "Epochs announced and not closed.",
            |j| j.job_metrics.open_epochs as f64,
        ),
        (
            "restarts_total",
            "counter",
            "Restarts after failures.",
            |j| j.job_metrics.restarts as f64,
        ),
        (
            "checkpoints_completed_total",
            "counter",
            "Completed checkpoints.",
            |j| j.job_metrics.checkpoints_completed as f64,
        ),
        (
            "checkpoints_failed_total",
            "counter",
            "Checkpoints given up.",
            |j| j.job_metrics.checkpoints_failed as f64,
        ),
        (
            "last_checkpoint_id",
            "gauge",
            "The last completed checkpoint.",
            |j| j.job_metrics.last_checkpoint_id as f64,
        ),
        (
            "last_checkpoint_duration_seconds",
            "gauge",
            "How long the last completed checkpoint took.",
            |j| j.job_metrics.last_checkpoint_duration_ms as f64 / 1e3,
        ),
        (
            "last_checkpoint_size_bytes",
            "gauge",
            "Size of the last completed checkpoint.",
            |j| j.job_metrics.last_checkpoint_size_bytes as f64,
        ),
    ];
    for (name, kind, help, value) in numbers {
        let name = format!("aquifer_{name}");
        page.head(&name, kind, help);
        for job in jobs {
            page.sample(&name, &[("job", &job.job)], value(job));
        }
    }
}

fn render_operators(page: &mut Page, jobs: &[MetricsSnapshot]) {
    let numbers: [Metric<OperatorMetricsSnapshot, Option<f64>>; 10] = [
        ("records_in_total", "counter", "Rows taken in.", |o| {
            Some(o.records_in as f64)
        }),
        ("records_out_total", "counter", "Rows emitted.", |o| {
            Some(o.records_out as f64)
        }),
        ("batches_in_total", "counter", "Batches taken in.", |o| {
            Some(o.batches_in as f64)
        }),
        (
            "busy_seconds_total",
            "counter",
            "Time spent in the operator's code.",
            |o| Some(o.busy_nanos as f64 / 1e9),
        ),
        ("state_bytes", "gauge", "Bytes of state.", |o| {
            Some(o.state_bytes as f64)
        }),
        ("state_keys", "gauge", "Keys held.", |o| {
            Some(o.state_keys as f64)
        }),
        (
            "watermark_seconds",
            "gauge",
            "The watermark, in seconds since 1970.",
            |o| o.watermark_ms.map(|ms| ms as f64 / 1e3),
        ),
        ("epoch", "gauge", "The epoch it works on.", |o| {
            Some(o.epoch as f64)
        }),
        (
            "late_records_total",
            "counter",
            "Rows dropped because they came too late.",
            |o| Some(o.late_records as f64),
        ),
        (
            "skipped_records_total",
            "counter",
            "Rows skipped because they could not be read.",
            |o| Some(o.skipped_records as f64),
        ),
    ];
    for (name, kind, help, value) in numbers {
        let name = format!("aquifer_operator_{name}");
        page.head(&name, kind, help);
        for job in jobs {
            for operator in &job.operators {
                if let Some(value) = value(operator) {
                    let worker = operator.worker.to_string();
                    page.sample(&name, &labels(job, operator, &worker), value);
                }
            }
        }
    }
}

/// The user's names are labels, so that any name is fine and none can clash with ours.
fn render_user(page: &mut Page, jobs: &[MetricsSnapshot]) {
    for (name, kind) in [
        ("aquifer_user_counter_total", "counter"),
        ("aquifer_user_gauge", "gauge"),
        ("aquifer_user_histogram", "summary"),
    ] {
        page.head(name, kind, "Metrics that user code defines, by name.");
        for job in jobs {
            for operator in &job.operators {
                let worker = operator.worker.to_string();
                for (metric, value) in &operator.user {
                    let mut labels = labels(job, operator, &worker).to_vec();
                    labels.push(("name", metric));
                    match (kind, value) {
                        ("counter", UserMetric::Counter(n)) => {
                            page.sample(name, &labels, *n as f64);
                        }
                        ("gauge", UserMetric::Gauge(value)) => page.sample(name, &labels, *value),
                        ("summary", UserMetric::Histogram(distribution)) => {
                            page.summary(name, &labels, distribution, 1.0);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn labels<'a>(
    job: &'a MetricsSnapshot,
    operator: &'a OperatorMetricsSnapshot,
    worker: &'a str,
) -> [(&'static str, &'a str); 4] {
    [
        ("job", &job.job),
        ("operator", &operator.name),
        ("uid", &operator.uid),
        ("worker", worker),
    ]
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = render_labels(labels);
        let value = render_value(value);
        self.line(format_args!("{name}{{{labels}}} {value}"));
    }

    fn summary(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        distribution: &Distribution,
        unit: f64,
    ) {
        for q in QUANTILES {
            let quantile = q.to_string();
            let mut labels = labels.to_vec();
            labels.push(("quantile", &quantile));
            self.sample(name, &labels, distribution.quantile(q) as f64 * unit);
        }
        self.sample(
            &format!("{name}_sum"),
            labels,
            distribution.sum() as f64 * unit,
        );
        self.sample(
            &format!("{name}_count"),
            labels,
            distribution.count() as f64,
        );
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("writing to a string cannot fail");
    }
}

fn render_labels(labels: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (index, (name, value)) in labels.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        text.push_str(comma);
        text.push_str(name);
        text.push_str("=\"");
        for c in value.chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                c => text.push(c),
            }
        }
        text.push('"');
    }
    text
}

fn render_value(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::Ordering;

    use super::super::MetricsRegistry;
    use super::*;

    #[test]
    fn samples_stand_below_their_head_and_labels_are_escaped() {
        let mut jobs = Vec::new();
        for job in ["orders", "say \"hi\"\n\\"] {
            let registry = MetricsRegistry::new(job);
            let metrics = registry.operator("agg", "count words", 1);
            metrics.records_in.store(5, Ordering::Relaxed);
            metrics.user.counter("näme").inc();
            metrics.user.gauge("näme").set(f64::INFINITY);
            metrics.user.histogram("h").update(3);
            jobs.push(registry.snapshot());
        }
        let text = render_prometheus(&jobs);
        for line in [
            "aquifer_operator_records_in_total{job=\"orders\",operator=\"count words\",uid=\"agg\",worker=\"1\"} 5",
            "aquifer_open_epochs{job=\"say \\\"hi\\\"\\n\\\\\"} 0",
            "aquifer_user_gauge{job=\"orders\",operator=\"count words\",uid=\"agg\",worker=\"1\",name=\"näme\"} +Inf",
            "aquifer_epoch_latency_seconds_count{job=\"orders\"} 0",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line}\nin\n{text}"
            );
        }
        assert!(!text.contains("watermark_seconds{"), "{text}");
        let mut seen = BTreeSet::new();
        let mut current = "";
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("# TYPE ") {
                current = head.split(' ').next().unwrap();
                assert!(seen.insert(current), "two blocks of {current}");
            } else if !line.starts_with('#') {
                assert!(
                    line.starts_with(current),
                    "{line} in the block of {current}"
                );
            }
        }
    }
}

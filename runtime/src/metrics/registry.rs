//! All metrics of one job in one process.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::snapshot::{MetricsSnapshot, OperatorMetricsSnapshot};
use super::{JobMetrics, OperatorMetrics};

/// Knows the metrics of all operator instances of a job in this process.
#[derive(Debug)]
pub struct MetricsRegistry {
    job: String,
    job_metrics: JobMetrics,
    /// By uid and worker.
    operators: Mutex<BTreeMap<(String, usize), Instance>>,
}

#[derive(Debug)]
struct Instance {
    name: String,
    metrics: Arc<OperatorMetrics>,
}

impl MetricsRegistry {
    /// A registry for the job named `job`.
    pub fn new(job: impl Into<String>) -> Self {
        Self {
            job: job.into(),
            job_metrics: JobMetrics::default(),
            operators: Mutex::default(),
        }
    }

    /// Name of the job.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
    }

    /// What the job as a whole measures.
    #[must_use]
    pub fn job_metrics(&self) -> &JobMetrics {
        &self.job_metrics
    }

    /// The metrics of operator `uid` on `worker`, made at the first call. After a restart the same ones go
    /// on counting.
    pub fn operator(&self, uid: &str, name: &str, worker: usize) -> Arc<OperatorMetrics> {
        let mut operators = self.operators.lock();
        let instance = operators
            .entry((uid.to_owned(), worker))
            .or_insert_with(|| Instance {
                name: name.to_owned(),
                metrics: Arc::default(),
            });
        Arc::clone(&instance.metrics)
    }

    /// The values now. They are read one by one while the job runs, so they may be a few rows apart.
    #[must_use]
    pub fn snapshot(&self) -> MetricsSnapshot {
        let operators = self.operators.lock();
        let operators = operators.iter().map(|((uid, worker), instance)| {
            OperatorMetricsSnapshot::new(uid, &instance.name, *worker, &instance.metrics)
        });
        MetricsSnapshot {
            job: self.job.clone(),
            job_metrics: self.job_metrics.snapshot(),
            operators: operators.collect(),
        }
    }
}

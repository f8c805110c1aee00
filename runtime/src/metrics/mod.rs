//! What a job measures about itself.
//!
//! Workers write plain atomics ([`OperatorMetrics`], [`JobMetrics`], the user's [`MetricGroup`]); a
//! [`MetricsRegistry`] per job knows them all and makes a [`MetricsSnapshot`] of them, which can be merged
//! with those of other processes, printed as a table, or served to Prometheus. Metrics never influence what
//! a job computes.

mod error;
mod group;
mod job_metrics;
mod operator_metrics;
mod prometheus;
mod registry;
mod server;
mod snapshot;

pub use error::MetricsError;
pub use group::{Counter, Gauge, Histogram, MetricGroup};
pub use job_metrics::JobMetrics;
pub use operator_metrics::OperatorMetrics;
pub use prometheus::render_prometheus;
pub use registry::MetricsRegistry;
pub use server::PrometheusServer;
pub use snapshot::{
    Distribution, JobMetricsSnapshot, MetricsSnapshot, OperatorMetricsSnapshot, UserMetric,
};

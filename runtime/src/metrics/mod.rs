//! What a job measures about itself.

mod operator_metrics;

pub use operator_metrics::OperatorMetrics;

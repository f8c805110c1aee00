//! What can go wrong with metrics.

use std::io;
use std::sync::Arc;

use thiserror::Error;

use crate::error::error_codes;

/// Why metrics cannot be served.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The address cannot be listened on.
    #[error(
        "cannot serve metrics on '{address}': {cause}; set 'metrics.prometheus.address' to a free host:port"
    )]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        #[source]
        cause: Arc<io::Error>,
    },
}

error_codes!(MetricsError {
    Listen => "metrics.listen",
});

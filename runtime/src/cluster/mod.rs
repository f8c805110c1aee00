//! Processes that run one program together: who they are, and how they find and trust each other.

mod arguments;
mod error;
mod secret;

pub use arguments::{ClusterArguments, ClusterSpec};
pub use error::ClusterError;
pub use secret::Secret;

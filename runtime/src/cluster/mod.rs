//! Processes that run one program together: who they are, and how they find and trust each other.
//!
//! A [`ClusterSpec`] says what one process must know; [`connect`] gives it a socket to each of the others,
//! for timely. Peers prove a shared [`Secret`] to each other; what they send afterwards is neither
//! encrypted nor signed, so the network between the processes must be trusted.

mod arguments;
mod error;
mod handshake;
mod protocol;
mod secret;

pub use arguments::{ClusterArguments, ClusterSpec};
pub use error::ClusterError;
pub use handshake::{connect, connect_on};
pub use secret::Secret;

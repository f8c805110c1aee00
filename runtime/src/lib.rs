//! DataStream runtime of Aquifer: epochs, watermarks, keyed state, checkpoints and jobs on timely dataflow.

pub mod checkpoint;
pub mod cluster;
pub mod config;
pub mod error;

pub use config::{ConfigOption, Configuration};
pub use error::{Result, RuntimeError};

//! Epochs: how they are announced and where time comes from.

mod announcement;
mod clock;

pub use announcement::{Announcement, CheckpointRequest, EpochTable, StopMode};
pub(crate) use clock::now;
pub use clock::{Clock, VirtualClock};

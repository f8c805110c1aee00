//! What worker 0 tells all workers about each epoch.
//!
//! A source holds its capability for epoch `e` until its worker has received the announcement of `e + 1`. So when an
//! operator sees `e` closed, the [`EpochTable`] of its worker already holds the announcement of `e`, and no operator
//! needs an edge for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::checkpoint::CheckpointTarget;

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopMode {
    /// The input has ended, or counts as ended: the watermark rises to its maximum and all timers fire.
    Drain,
    /// The job stops where it is, to go on from a savepoint later: no timer fires because of it.
    Suspend,
}

/// A checkpoint to be taken at the close of an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRequest {
    /// Rises by one with each checkpoint of a job, over restarts.
    pub id: u64,
    /// Where to write; `None` when nothing is to be kept and only sinks prepare their commit.
    pub target: Option<CheckpointTarget>,
}

/// The announcement of one epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The epoch.
    pub epoch: u64,
    /// Processing time of the epoch: milliseconds since 1970 on worker 0's clock.
    pub wall_clock: i64,
    /// Take a checkpoint when the epoch closes.
    pub checkpoint: Option<CheckpointRequest>,
    /// The epoch is the last one; sources add no rows to it.
    pub stop: Option<StopMode>,
    /// All epochs below this one are complete on all workers.
    pub completed: u64,
}

/// The announcements one worker has received for one job and may still need.
#[derive(Debug, Default)]
pub struct EpochTable {
    announcements: BTreeMap<u64, Announcement>,
}

impl EpochTable {
    /// Takes in an announcement and forgets what no operator can ask for any more.
    pub fn announce(&mut self, announcement: Announcement) {
        self.announcements = self.announcements.split_off(&announcement.completed);
        self.announcements.insert(announcement.epoch, announcement);
    }

    /// The announcement of `epoch`, once it is here.
    pub fn get(&self, epoch: u64) -> Option<&Announcement> {
        self.announcements.get(&epoch)
    }
}

//! The options of the connector.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use aquifer_table_common::options::{AnyConfigOption, ConfigOption, MemorySize};

pub(super) const PATH: ConfigOption<PathBuf> =
    ConfigOption::without_default("path", "The file or folder.");

pub(super) const SINK_PARALLELISM: ConfigOption<Option<NonZeroUsize>> =
    ConfigOption::without_default("sink.parallelism", "How many workers write; all if unset.");
pub(super) const FILE_SIZE: ConfigOption<MemorySize> = ConfigOption::new(
    "sink.rolling-policy.file-size",
    "128 mb",
    "A part file that reaches this size is closed.",
);
pub(super) const ROLLOVER_INTERVAL: ConfigOption<Duration> = ConfigOption::new(
    "sink.rolling-policy.rollover-interval",
    "30 min",
    "A part file that is open for this long is closed. Every checkpoint closes it too.",
);
pub(super) const MONITOR_INTERVAL: ConfigOption<Option<Duration>> = ConfigOption::without_default(
    "source.monitor-interval",
    "How often to look for new files; without it the source ends with the files that are there.",
);
pub(super) const PATH_REGEX: ConfigOption<Option<String>> = ConfigOption::without_default(
    "source.path.regex-pattern",
    "A regular expression that the whole path of a file must match to be read.",
);

pub(super) static REQUIRED: [&dyn AnyConfigOption; 1] = [&PATH];
pub(super) static OPTIONAL: [&dyn AnyConfigOption; 5] = [
    &SINK_PARALLELISM,
    &FILE_SIZE,
    &ROLLOVER_INTERVAL,
    &MONITOR_INTERVAL,
    &PATH_REGEX,
];

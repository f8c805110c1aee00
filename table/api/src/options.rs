//! The options of the table layer, by the reference's keys.

use std::time::Duration;

use aquifer_runtime::config::{ConfigOption, OptionList};

/// How long a source may be silent before it no longer holds back event time; 0 is for ever.
pub const SOURCE_IDLE_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
    "table.exec.source.idle-timeout",
    "0 ms",
    "How long a source may be silent before it no longer holds back event time; 0 is for ever.",
);

/// Whether an insert-only stream refuses update-after rows.
pub const STRICT_INSERT_ONLY: ConfigOption<bool> = ConfigOption::new(
    "table.exec.source.strict-insert-only",
    "false",
    "Whether from_data_stream refuses rows of kind +U, which else count as insertions.",
);

/// Whether INSERT waits for its job.
pub const TABLE_DML_SYNC: ConfigOption<bool> = ConfigOption::new(
    "table.dml-sync",
    "false",
    "Whether INSERT statements wait for the end of their job.",
);

/// The session's time zone.
pub const LOCAL_TIME_ZONE: ConfigOption<String> = ConfigOption::new(
    "table.local-time-zone",
    "UTC",
    "The time zone in which TIMESTAMP_LTZ values are shown and read: a name such as 'Europe/Berlin' or an offset.",
);

/// All options, sorted by key.
pub const OPTIONS: &OptionList = &[
    &TABLE_DML_SYNC,
    &SOURCE_IDLE_TIMEOUT,
    &STRICT_INSERT_ONLY,
    &LOCAL_TIME_ZONE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_defaults_are_valid() {
        assert!(OPTIONS.is_sorted_by_key(|option| option.key()));
        for option in OPTIONS {
            if let Some(default) = option.default_text() {
                option.check(default).unwrap();
            }
        }
    }
}

//! The session's options, over those of the stream environment.
//!
//! There is one set of options: setting one here sets it for the stream environment, so that it counts for the jobs
//! of both. The session remembers what it changed, so that `RESET` brings the former value back.

use std::collections::{BTreeMap, BTreeSet};

use aquifer_runtime::config::{
    AnyConfigOption, ConfigOption, ConfigValue, ConfigurationError, options as runtime,
};
use aquifer_runtime::{Configuration, StreamExecutionEnvironment};
use aquifer_table_common::error::did_you_mean;
use aquifer_table_common::{Result, TableError, ValidationErrorKind};
use aquifer_types::temporal::TimeZone;
use parking_lot::Mutex;

use crate::options::{LOCAL_TIME_ZONE, OPTIONS};

/// Live options: changes count for what is planned and run later.
pub struct TableConfig {
    environment: StreamExecutionEnvironment,
    /// What the session changed, with the value from before.
    changed: Mutex<BTreeMap<String, Option<String>>>,
    /// The keys that are not known and were reported.
    reported: Mutex<BTreeSet<String>>,
}

impl TableConfig {
    /// The options of `environment`, and those the session starts with.
    pub(crate) fn new(
        environment: StreamExecutionEnvironment,
        settings: &Configuration,
    ) -> Result<Self> {
        let config = TableConfig {
            environment,
            changed: Mutex::default(),
            reported: Mutex::default(),
        };
        config.add_configuration(settings)?;
        config.changed.lock().clear();
        Ok(config)
    }

    /// Sets an option by its key. Keys of the reference that mean nothing here are kept and reported in the log.
    ///
    /// # Errors
    /// `validation.invalid_option` if the value is none of the option.
    pub fn set(&self, key: impl AsRef<str>, value: impl AsRef<str>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        match find(key) {
            Some(option) => option.check(value).map_err(invalid)?,
            None if self.reported.lock().insert(key.to_string()) => {
                let known = all().map(|option| option.key());
                let hint = did_you_mean(key, known).unwrap_or_default();
                tracing::warn!(
                    key,
                    hint,
                    "an option that is not known is kept, but has no effect"
                );
            }
            None => {}
        }
        if key == LOCAL_TIME_ZONE.key() {
            value.parse::<TimeZone>()?;
        }
        let before = self
            .environment
            .configuration()
            .text(key)
            .map(str::to_string);
        self.changed.lock().entry(key.to_string()).or_insert(before);
        self.put(key, Some(value));
        Ok(())
    }

    /// Sets a typed option.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_option<V: ConfigValue>(&self, option: &ConfigOption<V>, value: V) -> Result<()> {
        match value.to_text() {
            Some(text) => self.set(option.key(), text),
            None => {
                self.put(option.key(), None);
                Ok(())
            }
        }
    }

    /// The value of an option.
    ///
    /// # Errors
    /// `validation.invalid_option` if what is set is no value of the option.
    pub fn get<V: ConfigValue>(&self, option: &ConfigOption<V>) -> Result<V> {
        self.environment
            .configuration()
            .get(option)
            .map_err(invalid)
    }

    /// The text of an option, if it is set.
    pub fn get_optional(&self, key: impl AsRef<str>) -> Option<String> {
        self.environment
            .configuration()
            .text(key.as_ref())
            .map(str::to_string)
    }

    /// Everything that is set, secrets included: for use, not for show.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let configuration = self.environment.configuration();
        configuration
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect()
    }

    /// Takes over options.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn add_configuration(&self, configuration: &Configuration) -> Result<()> {
        configuration
            .iter()
            .try_for_each(|(key, value)| self.set(key, value))
    }

    /// Gives an option the value back that it had before the session.
    pub fn reset(&self, key: impl AsRef<str>) {
        let before = self.changed.lock().remove(key.as_ref());
        if let Some(before) = before {
            self.put(key.as_ref(), before.as_deref());
        }
    }

    /// Gives all options the values back that they had before the session.
    pub fn reset_all(&self) {
        let changed = std::mem::take(&mut *self.changed.lock());
        for (key, before) in changed {
            self.put(&key, before.as_deref());
        }
    }

    /// Sets the time zone in which TIMESTAMP_LTZ values are shown and read.
    ///
    /// # Errors
    /// `types.parse_value` for a name that is no zone.
    pub fn set_local_time_zone(&self, zone: impl AsRef<str>) -> Result<()> {
        self.set(LOCAL_TIME_ZONE.key(), zone)
    }

    /// The session's time zone.
    ///
    /// # Errors
    /// `types.parse_value` for a name that is no zone.
    pub fn local_time_zone(&self) -> Result<TimeZone> {
        Ok(self.get(&LOCAL_TIME_ZONE)?.parse()?)
    }

    fn put(&self, key: &str, value: Option<&str>) {
        self.environment.set_text(key, value);
    }
}

fn all() -> impl Iterator<Item = &'static dyn AnyConfigOption> {
    OPTIONS.iter().chain(runtime::OPTIONS).copied()
}

fn find(key: &str) -> Option<&'static dyn AnyConfigOption> {
    all().find(|option| option.key() == key)
}

fn invalid(error: ConfigurationError) -> TableError {
    match error {
        ConfigurationError::InvalidValue {
            key,
            value,
            expected,
            reason,
        } => ValidationErrorKind::InvalidOption {
            key,
            value,
            reason: format!("expected {expected}; {reason}"),
        }
        .into(),
        other => ValidationErrorKind::InvalidClause {
            message: other.to_string(),
            hint: None,
        }
        .into(),
    }
}

//! The map of options.

use std::collections::BTreeMap;
use std::fmt;

use super::option::{MASK, is_sensitive};
use super::{ConfigOption, ConfigValue, ConfigurationError};

/// Option values by key, in the order of the keys.
///
/// `Debug` and `Display` mask secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    values: BTreeMap<String, String>,
}

impl Configuration {
    /// An empty configuration: every option has its default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `option`: what is set, else its default.
    ///
    /// # Errors
    /// `configuration.invalid_value`, or `configuration.missing` when it is unset and has no default.
    pub fn get<V: ConfigValue>(&self, option: &ConfigOption<V>) -> Result<V, ConfigurationError> {
        let text = self.values.get(option.key()).map(String::as_str);
        match text.or(option.default_text()) {
            Some(text) => option.parse(text),
            None => V::unset().ok_or_else(|| ConfigurationError::Missing {
                key: option.key().to_owned(),
                description: option.description().to_owned(),
            }),
        }
    }

    /// Sets `option` to `value`.
    pub fn set<V: ConfigValue>(&mut self, option: &ConfigOption<V>, value: V) -> &mut Self {
        match value.to_text() {
            Some(text) => self.values.insert(option.key().to_owned(), text),
            None => self.values.remove(option.key()),
        };
        self
    }

    /// As [`set`](Self::set), for building in one expression.
    #[must_use]
    pub fn with<V: ConfigValue>(mut self, option: &ConfigOption<V>, value: V) -> Self {
        self.set(option, value);
        self
    }

    /// Whether `option` has been set.
    #[must_use]
    pub fn contains<V>(&self, option: &ConfigOption<V>) -> bool {
        self.values.contains_key(option.key())
    }

    /// Removes what was set for `option`, so that its default counts again.
    pub fn remove<V>(&mut self, option: &ConfigOption<V>) -> &mut Self {
        self.values.remove(option.key());
        self
    }

    /// The text under `key`.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Sets text under a key without checking it; bad values show when they are read. Values from
    /// outside come in by the checked [`from_map`](Self::from_map).
    pub fn set_text(&mut self, key: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.values.insert(key.into(), value.into());
        self
    }

    /// Sets text under a key as [`set_text`](Self::set_text), or removes what is there.
    pub fn put_text(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.values.insert(key.to_owned(), value.to_owned()),
            None => self.values.remove(key),
        };
        self
    }

    /// Adds all values of `other`, which win over those already here.
    pub fn merge(&mut self, other: &Self) -> &mut Self {
        self.values.extend(other.values.clone());
        self
    }

    /// Keys and values, ordered by key. Secrets are not masked.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl fmt::Display for Configuration {
    /// One `key: value` line per option, as a configuration file has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in self.iter() {
            let shown = if is_sensitive(key) { MASK } else { value };
            writeln!(f, "{key}: {shown}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.iter()
                    .map(|(key, value)| (key, if is_sensitive(key) { MASK } else { value })),
            )
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::options;
    use super::*;

    #[test]
    fn defaults_values_and_unset() {
        let mut config = Configuration::new();
        assert_eq!(
            config.get(&options::EPOCH_INTERVAL).unwrap(),
            Duration::from_millis(5)
        );
        assert_eq!(config.get(&options::CHECKPOINTING_INTERVAL).unwrap(), None);
        config.set(
            &options::CHECKPOINTING_INTERVAL,
            Some(Duration::from_secs(90)),
        );
        assert_eq!(
            config.text("execution.checkpointing.interval"),
            Some("90 s")
        );
        config.set(&options::CHECKPOINTING_INTERVAL, None);
        assert!(!config.contains(&options::CHECKPOINTING_INTERVAL));
    }

    #[test]
    fn bad_value_names_key_value_and_type() {
        let mut config = Configuration::new();
        config.set_text("pipeline.epoch.interval", "soon");
        let error = config.get(&options::EPOCH_INTERVAL).unwrap_err();
        assert_eq!(error.code(), "configuration.invalid_value");
        assert_eq!(
            error.to_string(),
            "option 'pipeline.epoch.interval' has value 'soon', which is not a duration: it must start \
             with a whole number"
        );
    }

    #[test]
    fn secrets_are_masked() {
        let config =
            Configuration::new().with(&options::CLUSTER_SECRET, Some("hunter2".to_owned()));
        assert!(!format!("{config}{config:?}").contains("hunter2"));
        assert_eq!(
            config.get(&options::CLUSTER_SECRET).unwrap().as_deref(),
            Some("hunter2")
        );
    }

    #[test]
    fn a_required_option_must_be_set() {
        const NEEDED: ConfigOption<u64> = ConfigOption::without_default("x.y", "how many");
        let error = Configuration::new().get(&NEEDED).unwrap_err();
        assert_eq!(error.code(), "configuration.missing");
    }
}

//! The options of connectors and formats, as the user wrote them, read through typed options.
//!
//! The typed options are the runtime's [`ConfigOption`]s. Reading checks the value and names key
//! and value in the error; [`TableOptions::check_known`] finds keys that nobody knows. The value of
//! an option whose key names a secret never leaves the map in an error, a log or a plan.

use std::collections::BTreeMap;
use std::fmt;

use aquifer_runtime::config::ConfigurationError;
pub use aquifer_runtime::config::{
    AnyConfigOption, ConfigOption, ConfigValue, MemorySize, OptionList,
};
use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Result, ValidationErrorKind};

/// The options of a table, a format or a statement, as written.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TableOptions {
    entries: BTreeMap<String, String>,
}

impl TableOptions {
    /// No options.
    pub fn new() -> Self {
        TableOptions::default()
    }

    /// Sets an option and returns its former value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        self.entries.insert(key.into(), value.into())
    }

    /// The text of an option.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// Keys and values in the order of the keys, secrets included: for use, not for show.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of an option or its default; an option of type `Option<V>` may stay unset.
    ///
    /// # Errors
    /// `validation.missing_option` and `validation.invalid_option`.
    pub fn get<V: ConfigValue>(&self, option: &ConfigOption<V>) -> Result<V> {
        match self.text(option.key()).or(option.default_text()) {
            Some(text) => option.parse(text).map_err(invalid_option),
            None => V::unset().ok_or_else(|| missing_option(option, "this table")),
        }
    }

    /// The options whose key starts with `prefix`, without the prefix.
    pub fn with_prefix_removed(&self, prefix: &str) -> TableOptions {
        let strip =
            |(k, v): (&String, &String)| Some((k.strip_prefix(prefix)?.to_string(), v.clone()));
        TableOptions {
            entries: self.entries.iter().filter_map(strip).collect(),
        }
    }

    /// Checks that every key is known, every required one given and every value readable.
    ///
    /// `owner` is whose options these are, such as `connector 'filesystem'`.
    ///
    /// # Errors
    /// `validation.unknown_option`, `validation.missing_option`, `validation.invalid_option`.
    pub fn check_known(
        &self,
        owner: &str,
        required: &OptionList,
        optional: &OptionList,
    ) -> Result<()> {
        for (key, value) in &self.entries {
            match required.iter().chain(optional).find(|o| o.key() == key) {
                Some(option) => option.check(value).map_err(invalid_option)?,
                None => {
                    return Err(unknown_option(
                        key,
                        owner,
                        required
                            .iter()
                            .chain(optional)
                            .map(|o| o.key().to_string())
                            .collect(),
                    ));
                }
            }
        }
        match required
            .iter()
            .find(|o| !self.entries.contains_key(o.key()) && o.default_text().is_none())
        {
            Some(option) => Err(missing_option(*option, owner)),
            None => Ok(()),
        }
    }

    /// Writes the options with the values of secrets masked, for plans.
    ///
    /// # Errors
    /// What the serializer reports.
    pub fn serialize_masked<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.masked())
    }

    /// Keys with values as they may be shown.
    pub fn masked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter()
            .map(|(k, v)| (k, if is_secret(k) { MASK } else { v }))
    }
}

/// The error of a key that `owner` does not know.
pub(crate) fn unknown_option(key: &str, owner: &str, candidates: Vec<String>) -> crate::TableError {
    ValidationErrorKind::UnknownOption {
        key: key.to_string(),
        owner: owner.to_string(),
        candidates,
    }
    .into()
}

/// The error of an option that must be given.
pub(crate) fn missing_option(
    option: &(impl AnyConfigOption + ?Sized),
    owner: &str,
) -> crate::TableError {
    ValidationErrorKind::MissingOption {
        key: option.key().to_string(),
        owner: owner.to_string(),
        description: option.description().to_string(),
    }
    .into()
}

/// The error of a value that is none of its option.
pub(crate) fn invalid_option(error: ConfigurationError) -> crate::TableError {
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

const MASK: &str = "******";

/// Whether the value of this key must not be shown (the reference's rule: by words in the key).
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    [
        "password",
        "secret",
        "token",
        "apikey",
        "api-key",
        "access-key",
        "credential",
    ]
    .iter()
    .any(|word| key.contains(word))
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for TableOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        TableOptions {
            entries: iter
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        }
    }
}

impl fmt::Debug for TableOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.masked()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PATH: ConfigOption<String> = ConfigOption::without_default("path", "The file or folder.");
    const SKIP: ConfigOption<bool> =
        ConfigOption::new("ignore-parse-errors", "false", "Skips bad rows.");
    const EVERY: ConfigOption<Option<Duration>> =
        ConfigOption::without_default("interval", "How often.");
    const KEY: ConfigOption<Option<u32>> =
        ConfigOption::without_default("password", "A secret number.");

    fn check(options: &[(&str, &str)]) -> Result<()> {
        let options: TableOptions = options.iter().copied().collect();
        options.check_known("connector 'x'", &[&PATH], &[&SKIP, &EVERY, &KEY])
    }

    #[test]
    fn finds_unknown_missing_and_bad_options() {
        assert!(check(&[("path", "/a"), ("interval", "10 s")]).is_ok());
        let unknown = check(&[("path", "/a"), ("ignore-parse-error", "true")]).unwrap_err();
        assert_eq!(unknown.code(), "validation.unknown_option");
        assert!(
            unknown
                .report()
                .contains("Did you mean 'ignore-parse-errors'?"),
            "{unknown:?}"
        );
        assert_eq!(check(&[]).unwrap_err().code(), "validation.missing_option");
        let bad = check(&[("path", "/a"), ("interval", "10 parsecs")]).unwrap_err();
        assert_eq!(bad.code(), "validation.invalid_option");
        assert!(
            bad.to_string()
                .contains("'10 parsecs' of option 'interval'"),
            "{bad:?}"
        );
    }

    #[test]
    fn reads_values_and_defaults() {
        let options: TableOptions = [("interval", "3 min")].into_iter().collect();
        assert_eq!(options.get(&EVERY).unwrap(), Some(Duration::from_secs(180)));
        assert_eq!(options.get(&KEY).unwrap(), None);
        assert!(!options.get(&SKIP).unwrap());
        assert_eq!(
            options.get(&PATH).unwrap_err().code(),
            "validation.missing_option"
        );
    }

    #[test]
    fn secrets_never_show() {
        let error = check(&[("path", "/a"), ("password", "hunter2")]).unwrap_err();
        assert!(!error.report().contains("hunter2"), "{error:?}");
        let options: TableOptions = [("db.password", "hunter2")].into_iter().collect();
        assert_eq!(format!("{options:?}"), r#"{"db.password": "******"}"#);
    }
}

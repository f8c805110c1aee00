//! A typed option: key, type, default, description.

use std::fmt;
use std::marker::PhantomData;

use super::{ConfigValue, ConfigurationError};

/// One option with values of type `V`.
///
/// The default is kept as text, so that options are constants and the reference page shows what a user
/// would write. `ConfigOption<Option<V>>` is an option that may stay unset.
pub struct ConfigOption<V> {
    key: &'static str,
    default: Option<&'static str>,
    description: &'static str,
    value: PhantomData<fn() -> V>,
}

impl<V> ConfigOption<V> {
    /// An option with a default, given as text.
    #[must_use]
    pub const fn new(key: &'static str, default: &'static str, description: &'static str) -> Self {
        Self {
            key,
            default: Some(default),
            description,
            value: PhantomData,
        }
    }

    /// An option without a default: reading it when unset gives `None` for `V = Option<..>`, an error
    /// otherwise.
    #[must_use]
    pub const fn without_default(key: &'static str, description: &'static str) -> Self {
        Self {
            key,
            default: None,
            description,
            value: PhantomData,
        }
    }

    /// The dotted key.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// The text of the default.
    #[must_use]
    pub const fn default_text(&self) -> Option<&'static str> {
        self.default
    }

    /// What the option does.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        self.description
    }
}

impl<V: ConfigValue> ConfigOption<V> {
    /// Parses `text` as a value of this option.
    ///
    /// # Errors
    /// `configuration.invalid_value`.
    pub fn parse(&self, text: &str) -> Result<V, ConfigurationError> {
        V::parse(text).map_err(|reason| ConfigurationError::InvalidValue {
            key: self.key.to_owned(),
            value: if is_sensitive(self.key) {
                MASK.to_owned()
            } else {
                text.to_owned()
            },
            expected: V::type_name(),
            reason: if is_sensitive(self.key) {
                "the value is not shown because it is a secret".to_owned()
            } else {
                reason
            },
        })
    }
}

impl<V> fmt::Debug for ConfigOption<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigOption({})", self.key)
    }
}

/// An option without its value type, for lists.
pub trait AnyConfigOption: Sync {
    /// The dotted key.
    fn key(&self) -> &'static str;
    /// Name of the value type.
    fn type_name(&self) -> String;
    /// The text of the default.
    fn default_text(&self) -> Option<&'static str>;
    /// What the option does.
    fn description(&self) -> &'static str;
    /// Whether `text` is a value of this option.
    ///
    /// # Errors
    /// `configuration.invalid_value`.
    fn check(&self, text: &str) -> Result<(), ConfigurationError>;
}

impl<V: ConfigValue> AnyConfigOption for ConfigOption<V> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn type_name(&self) -> String {
        V::type_name()
    }

    fn default_text(&self) -> Option<&'static str> {
        self.default
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn check(&self, text: &str) -> Result<(), ConfigurationError> {
        self.parse(text).map(drop)
    }
}

/// A list of options, sorted by key.
pub type OptionList = [&'static dyn AnyConfigOption];

/// What stands in place of a secret.
pub(super) const MASK: &str = "******";

/// Whether a key names a value that must not be shown (Flink's rule: by words in the key).
pub(super) fn is_sensitive(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    !key.ends_with("-file")
        && [
            "secret",
            "password",
            "token",
            "api-key",
            "apikey",
            "credential",
        ]
        .iter()
        .any(|word| key.contains(word))
}

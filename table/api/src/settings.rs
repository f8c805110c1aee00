//! How a table environment starts.

use aquifer_runtime::Configuration;
use aquifer_table_common::catalog::{DEFAULT_CATALOG, DEFAULT_DATABASE};

/// What a table environment is made with.
#[derive(Debug, Clone)]
pub struct EnvironmentSettings {
    pub(crate) built_in_catalog_name: String,
    pub(crate) built_in_database_name: String,
    pub(crate) configuration: Configuration,
}

impl Default for EnvironmentSettings {
    fn default() -> Self {
        EnvironmentSettings::in_streaming_mode()
    }
}

impl EnvironmentSettings {
    /// Queries are maintained as their input grows; over bounded input they end with the final answer.
    #[doc(alias = "inStreamingMode")]
    pub fn in_streaming_mode() -> Self {
        EnvironmentSettings {
            built_in_catalog_name: DEFAULT_CATALOG.to_string(),
            built_in_database_name: DEFAULT_DATABASE.to_string(),
            configuration: Configuration::new(),
        }
    }

    /// Sets single parts.
    #[doc(alias = "newInstance")]
    pub fn builder() -> EnvironmentSettingsBuilder {
        EnvironmentSettingsBuilder {
            settings: EnvironmentSettings::in_streaming_mode(),
        }
    }
}

impl From<Configuration> for EnvironmentSettings {
    fn from(configuration: Configuration) -> Self {
        EnvironmentSettings {
            configuration,
            ..EnvironmentSettings::in_streaming_mode()
        }
    }
}

impl From<EnvironmentSettingsBuilder> for EnvironmentSettings {
    fn from(builder: EnvironmentSettingsBuilder) -> Self {
        builder.build()
    }
}

/// Sets the parts of [`EnvironmentSettings`].
#[derive(Debug, Clone)]
pub struct EnvironmentSettingsBuilder {
    settings: EnvironmentSettings,
}

impl EnvironmentSettingsBuilder {
    /// The name of the catalog that exists from the start.
    #[must_use]
    pub fn with_built_in_catalog_name(mut self, name: impl Into<String>) -> Self {
        self.settings.built_in_catalog_name = name.into();
        self
    }

    /// The name of the database that exists from the start.
    #[must_use]
    pub fn with_built_in_database_name(mut self, name: impl Into<String>) -> Self {
        self.settings.built_in_database_name = name.into();
        self
    }

    /// Options, which win over those of the stream environment.
    #[must_use]
    pub fn with_configuration(mut self, configuration: Configuration) -> Self {
        self.settings.configuration = configuration;
        self
    }

    /// Ends the settings.
    pub fn build(self) -> EnvironmentSettings {
        self.settings
    }
}

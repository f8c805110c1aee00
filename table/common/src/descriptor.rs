//! Definitions of tables and formats without a name, as a program writes them.

use crate::options::{ConfigOption, TableOptions};
use crate::schema::Schema;

/// The option that names the connector.
pub const CONNECTOR: ConfigOption<String> = ConfigOption::without_default(
    "connector",
    "The connector that reads and writes the table.",
);

/// The option that names the format.
pub const FORMAT: ConfigOption<Option<String>> = ConfigOption::without_default(
    "format",
    "The format of the records in the external system.",
);

/// A key of an option: a text or a typed [`ConfigOption`].
#[derive(Debug, Clone)]
pub struct OptionKey(String);

impl From<&str> for OptionKey {
    fn from(key: &str) -> Self {
        OptionKey(key.to_string())
    }
}

impl From<String> for OptionKey {
    fn from(key: String) -> Self {
        OptionKey(key)
    }
}

impl<V> From<&ConfigOption<V>> for OptionKey {
    fn from(option: &ConfigOption<V>) -> Self {
        OptionKey(option.key().to_string())
    }
}

/// The definition of a table without a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableDescriptor {
    /// The columns; without them a sink takes those of the query.
    pub schema: Option<Schema>,
    /// The options, the connector's among them.
    pub options: TableOptions,
    /// The partition columns.
    pub partition_keys: Vec<String>,
    /// A comment.
    pub comment: Option<String>,
}

impl TableDescriptor {
    /// Starts a definition for a connector.
    pub fn for_connector(connector: impl Into<String>) -> TableDescriptorBuilder {
        let mut descriptor = TableDescriptor::default();
        descriptor.options.set(CONNECTOR.key(), connector);
        TableDescriptorBuilder { descriptor }
    }
}

/// Sets the parts of a [`TableDescriptor`].
#[derive(Debug, Clone)]
pub struct TableDescriptorBuilder {
    descriptor: TableDescriptor,
}

impl TableDescriptorBuilder {
    /// The columns.
    #[must_use]
    pub fn schema(mut self, schema: Schema) -> Self {
        self.descriptor.schema = Some(schema);
        self
    }

    /// An option.
    #[must_use]
    pub fn option(mut self, key: impl Into<OptionKey>, value: impl ToString) -> Self {
        self.descriptor.options.set(key.into().0, value.to_string());
        self
    }

    /// The format, by name or with its options.
    #[must_use]
    pub fn format(mut self, format: impl Into<FormatDescriptor>) -> Self {
        let format = format.into();
        for (key, value) in format.options.iter() {
            self.descriptor
                .options
                .set(format!("{}.{key}", format.format), value);
        }
        self.descriptor.options.set(FORMAT.key(), format.format);
        self
    }

    /// The partition columns.
    #[must_use]
    pub fn partitioned_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.descriptor.partition_keys = columns.into_iter().map(Into::into).collect();
        self
    }

    /// A comment.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.descriptor.comment = Some(comment.into());
        self
    }

    /// Ends the definition.
    pub fn build(self) -> TableDescriptor {
        self.descriptor
    }
}

impl From<TableDescriptorBuilder> for TableDescriptor {
    fn from(builder: TableDescriptorBuilder) -> Self {
        builder.build()
    }
}

/// The definition of a format.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatDescriptor {
    /// The format's identifier.
    pub format: String,
    /// Its options, without the identifier in front.
    pub options: TableOptions,
}

impl FormatDescriptor {
    /// Starts a definition.
    pub fn for_format(format: impl Into<String>) -> Self {
        FormatDescriptor {
            format: format.into(),
            options: TableOptions::new(),
        }
    }

    /// An option.
    #[must_use]
    pub fn option(mut self, key: impl Into<OptionKey>, value: impl ToString) -> Self {
        self.options.set(key.into().0, value.to_string());
        self
    }

    /// Ends the definition.
    #[must_use]
    pub fn build(self) -> FormatDescriptor {
        self
    }
}

impl From<&str> for FormatDescriptor {
    fn from(format: &str) -> Self {
        FormatDescriptor::for_format(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_options_get_the_formats_prefix() {
        let json = FormatDescriptor::for_format("json").option("ignore-parse-errors", true);
        let table = TableDescriptor::for_connector("filesystem")
            .option("path", "/x")
            .format(json);
        let options: Vec<_> = table
            .build()
            .options
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        assert_eq!(
            options,
            [
                "connector=filesystem",
                "format=json",
                "json.ignore-parse-errors=true",
                "path=/x"
            ]
        );
    }
}

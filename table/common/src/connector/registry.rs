//! Finds connectors and formats by identifier and checks a table's options.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext, FormatFactory,
};
use crate::descriptor::{CONNECTOR, FORMAT};
use crate::error::{Result, ValidationErrorKind};
use crate::options::{AnyConfigOption, invalid_option, missing_option, unknown_option};

/// The connectors and formats of an environment.
#[derive(Clone, Default)]
pub struct FactoryRegistry {
    connectors: BTreeMap<String, Arc<dyn DynamicTableFactory>>,
    formats: BTreeMap<String, Arc<dyn FormatFactory>>,
}

impl FactoryRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        FactoryRegistry::default()
    }

    /// Adds a connector, in place of one of the same identifier.
    pub fn register_connector(&mut self, factory: Arc<dyn DynamicTableFactory>) -> &mut Self {
        self.connectors
            .insert(factory.identifier().to_string(), factory);
        self
    }

    /// Adds a format, in place of one of the same identifier.
    pub fn register_format(&mut self, factory: Arc<dyn FormatFactory>) -> &mut Self {
        self.formats
            .insert(factory.identifier().to_string(), factory);
        self
    }

    /// The connectors, sorted by identifier.
    pub fn connectors(&self) -> impl Iterator<Item = &Arc<dyn DynamicTableFactory>> {
        self.connectors.values()
    }

    /// The formats, sorted by identifier.
    pub fn formats(&self) -> impl Iterator<Item = &Arc<dyn FormatFactory>> {
        self.formats.values()
    }

    /// The connector of an identifier.
    ///
    /// # Errors
    /// `validation.unknown_factory`, which lists those that are registered.
    pub fn connector(&self, identifier: &str) -> Result<&Arc<dyn DynamicTableFactory>> {
        self.connectors.get(identifier).ok_or_else(|| {
            ValidationErrorKind::UnknownFactory {
                what: "connector",
                identifier: identifier.to_string(),
                candidates: self.connectors.keys().cloned().collect(),
            }
            .into()
        })
    }

    /// The format of an identifier.
    ///
    /// # Errors
    /// `validation.unknown_factory`, which lists those that are registered.
    pub fn format(&self, identifier: &str) -> Result<&Arc<dyn FormatFactory>> {
        self.formats.get(identifier).ok_or_else(|| {
            ValidationErrorKind::UnknownFactory {
                what: "format",
                identifier: identifier.to_string(),
                candidates: self.formats.keys().cloned().collect(),
            }
            .into()
        })
    }

    /// Makes the source of a table.
    ///
    /// # Errors
    /// Unknown connector or format, options that are unknown, missing or not valid, and what the
    /// connector finds.
    pub fn create_source(
        &self,
        context: &FactoryContext<'_>,
    ) -> Result<Arc<dyn DynamicTableSource>> {
        self.checked(context)?.create_source(context)
    }

    /// Makes the sink of a table.
    ///
    /// # Errors
    /// As [`create_source`](Self::create_source).
    pub fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        self.checked(context)?.create_sink(context)
    }

    /// The connector of a table whose options are all known, given and readable.
    fn checked(&self, context: &FactoryContext<'_>) -> Result<&Arc<dyn DynamicTableFactory>> {
        let options = context.options;
        let Some(identifier) = options.text(CONNECTOR.key()) else {
            return Err(missing_option(
                &CONNECTOR,
                &format!("table '{}'", context.identifier.object),
            ));
        };
        let connector = self.connector(identifier)?;
        let owner = format!("connector '{identifier}'");
        let format = match options.text(FORMAT.key()) {
            Some(name) if connector.takes_format() => Some(self.format(name)?),
            _ => None,
        };

        let mut known: BTreeMap<String, &dyn AnyConfigOption> = BTreeMap::new();
        known.insert(CONNECTOR.key().to_string(), &CONNECTOR);
        if connector.takes_format() {
            known.insert(FORMAT.key().to_string(), &FORMAT);
        }
        for option in connector
            .required_options()
            .iter()
            .chain(connector.optional_options())
        {
            known.insert(option.key().to_string(), *option);
        }
        known.extend(connector.column_options(context.schema));
        let prefix = format.map_or(String::new(), |f| format!("{}.", f.identifier()));
        if let Some(format) = format {
            for option in format
                .required_options()
                .iter()
                .chain(format.optional_options())
            {
                known.insert(format!("{prefix}{}", option.key()), *option);
            }
        }
        for (key, value) in options.iter() {
            let Some(option) = known.get(key) else {
                let owner = match format {
                    Some(f) if key.starts_with(&prefix) => format!("format '{}'", f.identifier()),
                    _ => owner.clone(),
                };
                return Err(unknown_option(key, &owner, known.into_keys().collect()));
            };
            option.check(value).map_err(invalid_option)?;
        }
        let is_missing = |key: &str, option: &dyn AnyConfigOption| {
            options.text(key).is_none() && option.default_text().is_none()
        };
        for option in connector.required_options() {
            if is_missing(option.key(), *option) {
                return Err(missing_option(*option, &owner));
            }
        }
        for option in format.into_iter().flat_map(|f| f.required_options()) {
            if is_missing(&format!("{prefix}{}", option.key()), *option) {
                return Err(missing_option(
                    *option,
                    &format!("format '{}'", prefix.trim_end_matches('.')),
                ));
            }
        }
        Ok(connector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::DecodingFormat;
    use crate::identifier::ObjectIdentifier;
    use crate::options::{ConfigOption, OptionList, TableOptions};
    use crate::schema::ResolvedSchema;

    const PATH: ConfigOption<String> = ConfigOption::without_default("path", "The folder.");
    const DELIMITER: ConfigOption<String> =
        ConfigOption::new("field-delimiter", ",", "Between fields.");
    static PATHS: [&dyn AnyConfigOption; 1] = [&PATH];
    static DELIMITERS: [&dyn AnyConfigOption; 1] = [&DELIMITER];

    struct Files;
    impl DynamicTableFactory for Files {
        fn identifier(&self) -> &'static str {
            "filesystem"
        }
        fn description(&self) -> &'static str {
            "Files."
        }
        fn required_options(&self) -> &'static OptionList {
            &PATHS
        }
        fn takes_format(&self) -> bool {
            true
        }
        fn create_source(
            &self,
            context: &FactoryContext<'_>,
        ) -> Result<Arc<dyn DynamicTableSource>> {
            context
                .decoding_format()
                .map(|_| unreachable!("the test format cannot be read"))
        }
    }

    struct Csv;
    impl FormatFactory for Csv {
        fn identifier(&self) -> &'static str {
            "csv"
        }
        fn description(&self) -> &'static str {
            "Comma separated values."
        }
        fn optional_options(&self) -> &'static OptionList {
            &DELIMITERS
        }
        fn create_decoding_format(
            &self,
            options: &TableOptions,
        ) -> Result<Arc<dyn DecodingFormat>> {
            assert_eq!(options.text("field-delimiter"), Some(";"));
            Err(super::super::factory::wrong_role("format", "csv", "source"))
        }
    }

    fn check(options: &[(&str, &str)]) -> crate::TableError {
        let mut registry = FactoryRegistry::new();
        registry
            .register_connector(Arc::new(Files))
            .register_format(Arc::new(Csv));
        let options: TableOptions = options.iter().copied().collect();
        let context = FactoryContext {
            identifier: &ObjectIdentifier::of("c", "d", "t"),
            schema: &ResolvedSchema::default(),
            options: &options,
            partition_keys: &[],
            registry: &registry,
        };
        registry
            .create_source(&context)
            .err()
            .expect("all cases fail")
    }

    #[test]
    fn every_wrong_option_is_named() {
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
        let cases: &[Case] = &[
            (&[], "validation.missing_option", "connector"),
            (
                &[("connector", "filesystm")],
                "validation.unknown_factory",
                "Did you mean 'filesystem'?",
            ),
            (
                &[("connector", "kafka")],
                "validation.unknown_factory",
                "Registered connectors: filesystem.",
            ),
            (
                &[("connector", "filesystem")],
                "validation.missing_option",
                "path",
            ),
            (
                &[
                    ("connector", "filesystem"),
                    ("path", "/x"),
                    ("format", "cvs"),
                ],
                "validation.unknown_factory",
                "Did you mean 'csv'?",
            ),
            (
                &[
                    ("connector", "filesystem"),
                    ("path", "/x"),
                    ("format", "csv"),
                    ("csv.field-delimeter", ";"),
                ],
                "validation.unknown_option",
                "Did you mean 'csv.field-delimiter'?",
            ),
            (
                &[("connector", "filesystem"), ("path", "/x")],
                "validation.missing_option",
                "format",
            ),
            (
                &[
                    ("connector", "filesystem"),
                    ("path", "/x"),
                    ("format", "csv"),
                    ("csv.field-delimiter", ";"),
                ],
                "validation.wrong_role",
                "cannot be used as a source",
            ),
        ];
        for (options, code, text) in cases {
            let error = check(options);
            assert_eq!(error.code(), *code, "{options:?}");
            assert!(error.report().contains(text), "{options:?}: {error:?}");
        }
    }
}

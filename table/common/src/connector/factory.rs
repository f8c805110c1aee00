//! Makes sources and sinks from options.

use std::sync::Arc;

use super::{
    DecodingFormat, DynamicTableSink, DynamicTableSource, EncodingFormat, FactoryRegistry,
};
use crate::descriptor::FORMAT;
use crate::error::{Result, ValidationErrorKind};
use crate::identifier::ObjectIdentifier;
use crate::options::{AnyConfigOption, OptionList, TableOptions};
use crate::schema::ResolvedSchema;

/// Makes the sources and sinks of one connector.
///
/// The registry has checked the options against both lists before a method is called.
pub trait DynamicTableFactory: Send + Sync {
    /// The value of the option `connector`.
    fn identifier(&self) -> &'static str;

    /// What the connector does, one sentence.
    fn description(&self) -> &'static str;

    /// The options that must be given, sorted by key; without `connector` and `format`.
    fn required_options(&self) -> &'static OptionList {
        &[]
    }

    /// The options that may be given, sorted by key; without `connector` and `format`.
    fn optional_options(&self) -> &'static OptionList {
        &[]
    }

    /// Further options that may be given, whose keys depend on the columns of the table, such as
    /// `fields.price.min`.
    fn column_options(
        &self,
        schema: &ResolvedSchema,
    ) -> Vec<(String, &'static dyn AnyConfigOption)> {
        let _ = schema;
        Vec::new()
    }

    /// Whether the option `format` and the format's options may be given.
    fn takes_format(&self) -> bool {
        false
    }

    /// Makes a source.
    ///
    /// # Errors
    /// `validation.wrong_role` if the connector only writes; options that do not fit together.
    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        let _ = context;
        Err(wrong_role("connector", self.identifier(), "source"))
    }

    /// Makes a sink.
    ///
    /// # Errors
    /// `validation.wrong_role` if the connector only reads; options that do not fit together.
    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        let _ = context;
        Err(wrong_role("connector", self.identifier(), "sink"))
    }
}

pub(super) fn wrong_role(
    what: &'static str,
    identifier: &str,
    role: &'static str,
) -> crate::TableError {
    ValidationErrorKind::WrongRole {
        what,
        identifier: identifier.to_string(),
        role,
    }
    .into()
}

/// What a factory knows about the table it works for.
pub struct FactoryContext<'a> {
    /// The table.
    pub identifier: &'a ObjectIdentifier,
    /// Its columns.
    pub schema: &'a ResolvedSchema,
    /// Its options, checked.
    pub options: &'a TableOptions,
    /// Its partition columns.
    pub partition_keys: &'a [String],
    /// Where formats are found.
    pub registry: &'a FactoryRegistry,
}

impl FactoryContext<'_> {
    /// The format named by the option `format`, for reading.
    ///
    /// # Errors
    /// `validation.missing_option` without that option, `validation.unknown_factory`, and what the
    /// format finds wrong in its options.
    pub fn decoding_format(&self) -> Result<Arc<dyn DecodingFormat>> {
        let (format, options) = self.format()?;
        self.registry
            .format(&format)?
            .create_decoding_format(&options)
    }

    /// The format named by the option `format`, for writing.
    ///
    /// # Errors
    /// As [`decoding_format`](Self::decoding_format).
    pub fn encoding_format(&self) -> Result<Arc<dyn EncodingFormat>> {
        let (format, options) = self.format()?;
        self.registry
            .format(&format)?
            .create_encoding_format(&options)
    }

    fn format(&self) -> Result<(String, TableOptions)> {
        let Some(format) = self.options.get(&FORMAT)? else {
            let connector = self.options.text("connector").unwrap_or_default();
            return Err(crate::options::missing_option(
                &FORMAT,
                &format!("connector '{connector}'"),
            ));
        };
        let options = self.options.with_prefix_removed(&format!("{format}."));
        Ok((format, options))
    }
}

//! Makes the two sides of the format.

use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    Decoder, DecoderContext, DecodingFormat, Encoder, EncodingFormat, FormatFactory,
};
use aquifer_table_common::error::UnsupportedError;
use aquifer_table_common::options::{OptionList, TableOptions};
use aquifer_types::{ChangelogMode, DataType, Field, LogicalType};

use super::decoder::JsonDecoder;
use super::encoder::JsonEncoder;
use super::options::{JsonOptions, OPTIONS};

/// The format `json`.
pub struct JsonFormatFactory;

impl FormatFactory for JsonFormatFactory {
    fn identifier(&self) -> &'static str {
        "json"
    }

    fn description(&self) -> &'static str {
        "JSON, one object a line."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn create_decoding_format(&self, options: &TableOptions) -> Result<Arc<dyn DecodingFormat>> {
        Ok(Arc::new(JsonFormat(JsonOptions::read(options)?)))
    }

    fn create_encoding_format(&self, options: &TableOptions) -> Result<Arc<dyn EncodingFormat>> {
        Ok(Arc::new(JsonFormat(JsonOptions::read(options)?)))
    }
}

struct JsonFormat(JsonOptions);

impl DecodingFormat for JsonFormat {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn is_splittable(&self) -> bool {
        // A line end inside a string is escaped.
        true
    }

    fn create_decoder(&self, context: &DecoderContext) -> Result<Box<dyn Decoder>> {
        check_types(&context.fields)?;
        Ok(Box::new(JsonDecoder::new(self.0.clone(), context)))
    }
}

impl EncodingFormat for JsonFormat {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn create_encoder(&self, fields: &[Field]) -> Result<Box<dyn Encoder>> {
        check_types(fields)?;
        Ok(Box::new(JsonEncoder::new(self.0.clone(), fields)))
    }
}

/// The names of an object are texts, so the keys of maps must be.
fn check_types(fields: &[Field]) -> Result<()> {
    match fields.iter().find(|field| !is_supported(&field.data_type)) {
        None => Ok(()),
        Some(field) => Err(UnsupportedError::new(format!(
            "type {} of column '{}' in format 'json'",
            field.data_type, field.name
        ))
        .instead("Use a map whose keys are of type STRING.")
        .into()),
    }
}

fn is_supported(data_type: &DataType) -> bool {
    match &data_type.logical {
        LogicalType::Map(key, value) => key.is_string() && is_supported(value),
        LogicalType::Multiset(element) => element.is_string(),
        LogicalType::Array(element) => is_supported(element),
        LogicalType::Row(fields) => fields.iter().all(|field| is_supported(&field.data_type)),
        _ => true,
    }
}

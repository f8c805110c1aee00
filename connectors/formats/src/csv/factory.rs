//! Makes the two sides of the format.

use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    Decoder, DecoderContext, DecodingFormat, Encoder, EncodingFormat, FormatFactory,
};
use aquifer_table_common::error::UnsupportedError;
use aquifer_table_common::options::{OptionList, TableOptions};
use aquifer_types::{ChangelogMode, Field, LogicalType};

use super::decoder::CsvDecoder;
use super::encoder::CsvEncoder;
use super::options::{CsvOptions, OPTIONS};

/// The format `csv`.
pub struct CsvFormatFactory;

impl FormatFactory for CsvFormatFactory {
    fn identifier(&self) -> &'static str {
        "csv"
    }

    fn description(&self) -> &'static str {
        "Comma separated values, one record a line."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn create_decoding_format(&self, options: &TableOptions) -> Result<Arc<dyn DecodingFormat>> {
        Ok(Arc::new(CsvFormat(CsvOptions::read(options)?)))
    }

    fn create_encoding_format(&self, options: &TableOptions) -> Result<Arc<dyn EncodingFormat>> {
        Ok(Arc::new(CsvFormat(CsvOptions::read(options)?)))
    }
}

struct CsvFormat(CsvOptions);

impl DecodingFormat for CsvFormat {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn is_splittable(&self) -> bool {
        // A quoted or escaped line end is no end of a record.
        self.0.dialect.quote.is_none() && self.0.dialect.escape.is_none()
    }

    fn create_decoder(&self, context: &DecoderContext) -> Result<Box<dyn Decoder>> {
        check_types(&context.fields)?;
        Ok(Box::new(CsvDecoder::new(self.0.clone(), context)))
    }
}

impl EncodingFormat for CsvFormat {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn create_encoder(&self, fields: &[Field]) -> Result<Box<dyn Encoder>> {
        check_types(fields)?;
        Ok(Box::new(CsvEncoder::new(self.0.clone(), fields)))
    }
}

/// A field holds a scalar, or a list of scalars.
fn check_types(fields: &[Field]) -> Result<()> {
    for field in fields {
        let is_scalar = |logical: &LogicalType| !logical.is_nested();
        let supported = match &field.data_type.logical {
            LogicalType::Array(element) => is_scalar(&element.logical),
            LogicalType::Row(fields) => fields.iter().all(|f| is_scalar(&f.data_type.logical)),
            logical => is_scalar(logical),
        };
        if !supported {
            return Err(UnsupportedError::new(format!(
                "type {} of column '{}' in format 'csv'",
                field.data_type, field.name
            ))
            .instead("Use format 'json', or a type without nested values.")
            .into());
        }
    }
    Ok(())
}

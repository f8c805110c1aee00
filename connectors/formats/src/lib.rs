//! Formats: how rows are written as bytes and read back.
//!
//! Decoders append to Arrow builders without making a value per cell; a record that is not valid is
//! an error that names file, line, column and value, or is skipped and counted. Encoders write the
//! cells of a batch straight to bytes. Semantics and option names are those of Flink's formats.
//!
//! Layers, each using those above it: `text` (bytes to numbers and dates), `base64`, `cells` (columns
//! to text), `append` (text to columns), `collector` (the rows of a decoder), then one folder per
//! format.

mod append;
mod base64;
mod cells;
mod collector;
mod csv;
mod json;
#[cfg(test)]
mod test_rows;
mod text;

use std::sync::Arc;

use aquifer_table_common::connector::{FactoryRegistry, FormatFactory};

pub use csv::CsvFormatFactory;
pub use json::JsonFormatFactory;

/// All formats of this package, sorted by identifier.
pub fn formats() -> Vec<Arc<dyn FormatFactory>> {
    vec![Arc::new(CsvFormatFactory), Arc::new(JsonFormatFactory)]
}

/// Adds all formats of this package to `registry`.
pub fn register_formats(registry: &mut FactoryRegistry) {
    for format in formats() {
        registry.register_format(format);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_options_are_sorted() {
        let names: Vec<&str> = formats().iter().map(|f| f.identifier()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for format in formats() {
            let keys: Vec<&str> = format.optional_options().iter().map(|o| o.key()).collect();
            assert!(keys.is_sorted(), "{keys:?}");
        }
    }
}

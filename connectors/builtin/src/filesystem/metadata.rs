//! What a table may ask about the file a row came from.

use std::path::Path;
use std::sync::Arc;

use aquifer_types::{DataType, DataTypes};
use arrow_array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};

use super::split::Split;

/// A metadata key of the connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileMetadata {
    ModificationTime,
    Name,
    Path,
    Size,
}

/// The keys, sorted.
pub(super) const KEYS: [(&str, FileMetadata); 4] = [
    ("file.modification-time", FileMetadata::ModificationTime),
    ("file.name", FileMetadata::Name),
    ("file.path", FileMetadata::Path),
    ("file.size", FileMetadata::Size),
];

impl FileMetadata {
    pub(super) fn data_type(self) -> DataType {
        match self {
            FileMetadata::ModificationTime => DataTypes::timestamp_ltz(3).not_null(),
            FileMetadata::Name | FileMetadata::Path => DataTypes::string().not_null(),
            FileMetadata::Size => DataTypes::bigint().not_null(),
        }
    }

    /// A column of `rows` rows of the split's file.
    pub(super) fn column(self, split: &Split, rows: usize) -> ArrayRef {
        let text = |text: &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(
                text, rows,
            )))
        };
        match self {
            FileMetadata::ModificationTime => {
                let micros = split.modified_ms.saturating_mul(1000);
                Arc::new(TimestampMicrosecondArray::from_value(micros, rows).with_timezone("UTC"))
            }
            FileMetadata::Name => {
                let name = Path::new(&split.path).file_name();
                text(name.and_then(|name| name.to_str()).unwrap_or_default())
            }
            FileMetadata::Path => text(&split.path),
            FileMetadata::Size => {
                let size = i64::try_from(split.size).unwrap_or(i64::MAX);
                Arc::new(Int64Array::from_value(size, rows))
            }
        }
    }
}

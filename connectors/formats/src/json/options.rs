//! The options of the format, read and checked.

use aquifer_table_common::Result;
use aquifer_table_common::error::ValidationErrorKind;
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, ConfigValue, TableOptions};

use crate::cells::TimestampStyle;

const ENCODE_DECIMAL_AS_PLAIN_NUMBER: ConfigOption<bool> = ConfigOption::new(
    "encode.decimal-as-plain-number",
    "true",
    "Writes decimal numbers without an exponent, which is always done.",
);
const ENCODE_IGNORE_NULL_FIELDS: ConfigOption<bool> = ConfigOption::new(
    "encode.ignore-null-fields",
    "false",
    "Leaves fields out that are NULL.",
);
const FAIL_ON_MISSING_FIELD: ConfigOption<bool> = ConfigOption::new(
    "fail-on-missing-field",
    "false",
    "Whether a record without a column's name is an error; otherwise the column is NULL.",
);
const IGNORE_PARSE_ERRORS: ConfigOption<bool> = ConfigOption::new(
    "ignore-parse-errors",
    "false",
    "Skips and counts records that are not valid instead of failing.",
);
const MAP_NULL_KEY_LITERAL: ConfigOption<String> = ConfigOption::new(
    "map-null-key.literal",
    "null",
    "The key that a NULL key is written as if 'map-null-key.mode' is LITERAL.",
);
const MAP_NULL_KEY_MODE: ConfigOption<MapNullKeyMode> = ConfigOption::new(
    "map-null-key.mode",
    "FAIL",
    "What is done with a NULL key of a map on writing: FAIL, DROP, LITERAL.",
);
const TIMESTAMP_FORMAT_STANDARD: ConfigOption<TimestampStyle> = ConfigOption::new(
    "timestamp-format.standard",
    "SQL",
    "How timestamps are written: SQL (2020-01-31 10:20:30) or ISO-8601 (2020-01-31T10:20:30).",
);

pub(super) static OPTIONS: [&dyn AnyConfigOption; 7] = [
    &ENCODE_DECIMAL_AS_PLAIN_NUMBER,
    &ENCODE_IGNORE_NULL_FIELDS,
    &FAIL_ON_MISSING_FIELD,
    &IGNORE_PARSE_ERRORS,
    &MAP_NULL_KEY_LITERAL,
    &MAP_NULL_KEY_MODE,
    &TIMESTAMP_FORMAT_STANDARD,
];

/// What is done with a NULL key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapNullKeyMode {
    Fail,
    Drop,
    Literal,
}

impl ConfigValue for MapNullKeyMode {
    fn type_name() -> String {
        "FAIL | DROP | LITERAL".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_uppercase().as_str() {
            "FAIL" => Ok(MapNullKeyMode::Fail),
            "DROP" => Ok(MapNullKeyMode::Drop),
            "LITERAL" => Ok(MapNullKeyMode::Literal),
            _ => Err("write one of FAIL, DROP, LITERAL".to_owned()),
        }
    }

    fn to_text(&self) -> Option<String> {
        let text = match self {
            MapNullKeyMode::Fail => "FAIL",
            MapNullKeyMode::Drop => "DROP",
            MapNullKeyMode::Literal => "LITERAL",
        };
        Some(text.to_owned())
    }
}

impl ConfigValue for TimestampStyle {
    fn type_name() -> String {
        "SQL | ISO-8601".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_uppercase().as_str() {
            "SQL" => Ok(TimestampStyle::Sql),
            "ISO-8601" => Ok(TimestampStyle::Iso),
            _ => Err("write one of SQL, ISO-8601".to_owned()),
        }
    }

    fn to_text(&self) -> Option<String> {
        let text = match self {
            TimestampStyle::Sql => "SQL",
            TimestampStyle::Iso => "ISO-8601",
        };
        Some(text.to_owned())
    }
}

/// All options of a table.
#[derive(Clone, Debug)]
pub(super) struct JsonOptions {
    pub(super) ignore_null_fields: bool,
    pub(super) fail_on_missing_field: bool,
    pub(super) ignore_parse_errors: bool,
    pub(super) map_null_key_literal: String,
    pub(super) map_null_key_mode: MapNullKeyMode,
    pub(super) timestamps: TimestampStyle,
}

impl JsonOptions {
    pub(super) fn read(options: &TableOptions) -> Result<Self> {
        let read = JsonOptions {
            ignore_null_fields: options.get(&ENCODE_IGNORE_NULL_FIELDS)?,
            fail_on_missing_field: options.get(&FAIL_ON_MISSING_FIELD)?,
            ignore_parse_errors: options.get(&IGNORE_PARSE_ERRORS)?,
            map_null_key_literal: options.get(&MAP_NULL_KEY_LITERAL)?,
            map_null_key_mode: options.get(&MAP_NULL_KEY_MODE)?,
            timestamps: options.get(&TIMESTAMP_FORMAT_STANDARD)?,
        };
        if read.fail_on_missing_field && read.ignore_parse_errors {
            return Err(ValidationErrorKind::InvalidOption {
                key: "json.fail-on-missing-field".to_string(),
                value: "true".to_string(),
                reason: "the option 'json.ignore-parse-errors' is true too".to_string(),
            }
            .into());
        }
        Ok(read)
    }
}

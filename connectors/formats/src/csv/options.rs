//! The options of the format, read and checked.

use aquifer_table_common::Result;
use aquifer_table_common::error::ValidationErrorKind;
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, ConfigValue, TableOptions};

/// One ASCII character; `\t` and the like are Java's escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AsciiCharacter(pub(super) u8);

impl ConfigValue for AsciiCharacter {
    fn type_name() -> String {
        "one ASCII character".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let character = match text.as_bytes() {
            [byte] => *byte,
            [b'\\', escape] => match escape {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'0' => 0,
                b'\\' | b'\'' | b'"' => *escape,
                _ => return Err("this escape is not known".to_owned()),
            },
            [b'\\', b'u', digits @ ..] if digits.len() == 4 => {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(|code| u8::try_from(code).ok())
                    .ok_or_else(|| "it is not ASCII".to_owned())?
            }
            [] => return Err("it is empty".to_owned()),
            _ => return Err("it is longer than one character".to_owned()),
        };
        if !character.is_ascii() {
            return Err("it is not ASCII".to_owned());
        }
        Ok(AsciiCharacter(character))
    }

    fn to_text(&self) -> Option<String> {
        Some(char::from(self.0).to_string())
    }
}

const ALLOW_COMMENTS: ConfigOption<bool> = ConfigOption::new(
    "allow-comments",
    "false",
    "Ignores lines that begin with '#'.",
);
const ARRAY_ELEMENT_DELIMITER: ConfigOption<String> = ConfigOption::new(
    "array-element-delimiter",
    ";",
    "Between the elements of an ARRAY and the fields of a ROW inside a field.",
);
const DISABLE_QUOTE_CHARACTER: ConfigOption<bool> = ConfigOption::new(
    "disable-quote-character",
    "false",
    "Takes quotes for ordinary characters. Large files are then read by several workers.",
);
const ESCAPE_CHARACTER: ConfigOption<Option<AsciiCharacter>> = ConfigOption::without_default(
    "escape-character",
    "In front of a character that shall have no special meaning.",
);
const FIELD_DELIMITER: ConfigOption<AsciiCharacter> =
    ConfigOption::new("field-delimiter", ",", "Between fields.");
const HEADER: ConfigOption<bool> = ConfigOption::new(
    "header",
    "false",
    "The first line of a file holds the names of the columns: skipped on reading, written on \
     writing.",
);
const IGNORE_PARSE_ERRORS: ConfigOption<bool> = ConfigOption::new(
    "ignore-parse-errors",
    "false",
    "Skips and counts records that are not valid instead of failing.",
);
const NULL_LITERAL: ConfigOption<Option<String>> =
    ConfigOption::without_default("null-literal", "The text that means NULL.");
const QUOTE_CHARACTER: ConfigOption<Option<AsciiCharacter>> = ConfigOption::without_default(
    "quote-character",
    "Around fields with special characters; '\"' if unset.",
);

pub(super) static OPTIONS: [&dyn AnyConfigOption; 9] = [
    &ALLOW_COMMENTS,
    &ARRAY_ELEMENT_DELIMITER,
    &DISABLE_QUOTE_CHARACTER,
    &ESCAPE_CHARACTER,
    &FIELD_DELIMITER,
    &HEADER,
    &IGNORE_PARSE_ERRORS,
    &NULL_LITERAL,
    &QUOTE_CHARACTER,
];

/// How records are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) quote: Option<u8>,
    pub(super) escape: Option<u8>,
    pub(super) comments: bool,
}

/// All options of a table.
#[derive(Clone, Debug)]
pub(super) struct CsvOptions {
    pub(super) dialect: Dialect,
    pub(super) header: bool,
    pub(super) ignore_parse_errors: bool,
    pub(super) null_literal: Option<Vec<u8>>,
    pub(super) element_delimiter: Vec<u8>,
}

impl CsvOptions {
    pub(super) fn read(options: &TableOptions) -> Result<Self> {
        let quote = options.get(&QUOTE_CHARACTER)?;
        let quotes_disabled = options.get(&DISABLE_QUOTE_CHARACTER)?;
        let dialect = Dialect {
            delimiter: options.get(&FIELD_DELIMITER)?.0,
            quote: (!quotes_disabled).then(|| quote.map_or(b'"', |quote| quote.0)),
            escape: options.get(&ESCAPE_CHARACTER)?.map(|escape| escape.0),
            comments: options.get(&ALLOW_COMMENTS)?,
        };
        if quotes_disabled && quote.is_some() {
            return Err(invalid(
                &DISABLE_QUOTE_CHARACTER,
                "true",
                "the option 'quote-character' is set too",
            ));
        }
        if [b'\n', b'\r'].contains(&dialect.delimiter) || dialect.quote == Some(dialect.delimiter) {
            return Err(invalid(
                &FIELD_DELIMITER,
                &char::from(dialect.delimiter).escape_default().to_string(),
                "it is the line end or the quote character",
            ));
        }
        let element_delimiter = options.get(&ARRAY_ELEMENT_DELIMITER)?;
        if element_delimiter.is_empty() {
            return Err(invalid(&ARRAY_ELEMENT_DELIMITER, "", "it is empty"));
        }
        Ok(CsvOptions {
            dialect,
            header: options.get(&HEADER)?,
            ignore_parse_errors: options.get(&IGNORE_PARSE_ERRORS)?,
            null_literal: options.get(&NULL_LITERAL)?.map(String::into_bytes),
            element_delimiter: element_delimiter.into_bytes(),
        })
    }
}

fn invalid(
    option: &dyn AnyConfigOption,
    value: &str,
    reason: &str,
) -> aquifer_table_common::TableError {
    ValidationErrorKind::InvalidOption {
        key: format!("csv.{}", option.key()),
        value: value.to_string(),
        reason: reason.to_string(),
    }
    .into()
}

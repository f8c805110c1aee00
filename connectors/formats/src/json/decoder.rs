//! Reads objects into columns.

use aquifer_table_common::connector::{DecodeError, Decoded, Decoder, DecoderContext};
use aquifer_types::{ChangeBatch, ColumnBuilder, ColumnParts, Field, LogicalType};

use super::options::JsonOptions;
use super::scanner::{Reason, Scanner};
use crate::append::{offset, push_null, push_text};
use crate::collector::Collector;
use crate::text::BYTE_ORDER_MARK;

pub(super) struct JsonDecoder {
    options: JsonOptions,
    names: Vec<String>,
    /// Of each column of the table: where it goes, if it is asked for.
    targets: Vec<Option<usize>>,
    rows: Collector,
    origin: String,
    line: u64,
    is_at_begin: bool,
    reader: ValueReader,
}

/// Why a record is not valid.
struct Invalid {
    /// The names on the way to the value, the innermost first.
    path: Vec<String>,
    value: Option<String>,
    reason: Reason,
}

impl From<Reason> for Invalid {
    fn from(reason: Reason) -> Self {
        Invalid {
            path: Vec::new(),
            value: None,
            reason,
        }
    }
}

impl Invalid {
    fn inside(mut self, name: &str) -> Self {
        self.path.push(name.to_string());
        self
    }
}

impl JsonDecoder {
    pub(super) fn new(options: JsonOptions, context: &DecoderContext) -> Self {
        let target = |field| context.projection.iter().position(|index| *index == field);
        JsonDecoder {
            names: context.fields.iter().map(|f| f.name.clone()).collect(),
            targets: (0..context.fields.len()).map(target).collect(),
            rows: Collector::new(context),
            origin: String::new(),
            line: 1,
            is_at_begin: false,
            reader: ValueReader {
                fail_on_missing_field: options.fail_on_missing_field,
                buffer: String::new(),
                key: String::new(),
            },
            options,
        }
    }

    fn read_record(&mut self, text: &[u8]) -> Result<(), Invalid> {
        let text = std::str::from_utf8(text).map_err(|error| {
            format!(
                "not valid UTF-8 at byte {} of the line",
                error.valid_up_to()
            )
        })?;
        let mut scanner = Scanner::new(text);
        let scanner = &mut scanner;
        scanner.expect(b'{', "of an object")?;
        let rows = self.rows.rows();
        let mut next = 0;
        let mut is_first = true;
        while !scanner.skip_if(b'}') {
            if !is_first {
                scanner.expect(b',', "or '}' after a value")?;
            }
            is_first = false;
            let name = scanner.string(&mut self.reader.key)?;
            let field = find(&self.names, name, next);
            scanner.expect(b':', "after a name")?;
            let Some(field) = field else {
                scanner.skip_value(None)?;
                continue;
            };
            next = field + 1;
            let Some(target) = self.targets[field] else {
                scanner.skip_value(None)?;
                continue;
            };
            let column = &mut self.rows.columns[target];
            let result = if column.len() > rows {
                Err(Invalid::from("the name occurs twice".to_string()))
            } else {
                self.reader.value(scanner, column)
            };
            result.map_err(|invalid| invalid.inside(&self.names[field]))?;
        }
        scanner.end()?;
        for (name, target) in self.names.iter().zip(&self.targets) {
            let Some(target) = target else { continue };
            let column = &mut self.rows.columns[*target];
            if column.len() == rows {
                let missing = self.reader.missing(column);
                missing.map_err(|invalid| invalid.inside(name))?;
            }
        }
        Ok(())
    }

    fn error(&self, text: &[u8], invalid: Invalid) -> DecodeError {
        let value = invalid
            .value
            .unwrap_or_else(|| String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned());
        let path: Vec<&str> = invalid.path.iter().rev().map(String::as_str).collect();
        DecodeError {
            origin: self.origin.clone(),
            line: self.line,
            column: (!path.is_empty()).then(|| path.join(".")),
            value: Some(value),
            reason: invalid.reason,
        }
    }
}

/// The field of a name; `guess` is looked at first, as names mostly come in the same order.
#[inline]
fn find(names: &[String], name: &str, guess: usize) -> Option<usize> {
    if names.get(guess).is_some_and(|guessed| guessed == name) {
        return Some(guess);
    }
    names.iter().position(|other| other == name)
}

impl Decoder for JsonDecoder {
    fn start(&mut self, origin: &str, offset: u64, line: u64) {
        origin.clone_into(&mut self.origin);
        self.line = line;
        self.is_at_begin = offset == 0;
    }

    fn decode(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        max_rows: usize,
    ) -> Result<Decoded, DecodeError> {
        let (mut at, mut rows) = (0, 0);
        while rows < max_rows && at < bytes.len() {
            let rest = &bytes[at..];
            let (line, next) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&rest[..end], at + end + 1),
                None if is_end => (rest, bytes.len()),
                None => break,
            };
            let is_first = std::mem::take(&mut self.is_at_begin);
            let text = match line.strip_prefix(BYTE_ORDER_MARK) {
                Some(text) if is_first => text,
                _ => line,
            }
            .trim_ascii();
            if !text.is_empty() {
                match self.read_record(text) {
                    Ok(()) => {
                        self.rows.add_rows(1);
                        rows += 1;
                    }
                    Err(invalid) => {
                        self.rows.reject_current();
                        if !self.options.ignore_parse_errors {
                            return Err(self.error(text, invalid));
                        }
                        self.rows.count_skipped(1);
                    }
                }
            }
            self.line += 1;
            at = next;
        }
        Ok(Decoded { bytes: at, rows })
    }

    fn take(&mut self) -> ChangeBatch {
        self.rows.take()
    }

    fn skipped(&self) -> u64 {
        self.rows.skipped()
    }
}

/// Appends values to columns, by the type of the column.
struct ValueReader {
    fail_on_missing_field: bool,
    buffer: String,
    key: String,
}

impl ValueReader {
    /// The field of this column does not occur.
    fn missing(&self, column: &mut ColumnBuilder) -> Result<(), Invalid> {
        if self.fail_on_missing_field {
            return Err("the field is missing".to_string().into());
        }
        Ok(push_null(column)?)
    }

    #[inline]
    fn value(
        &mut self,
        scanner: &mut Scanner<'_>,
        column: &mut ColumnBuilder,
    ) -> Result<(), Invalid> {
        let first = scanner.peek();
        let start = scanner.position();
        let result = match first {
            Some(b'"') => match scanner.string(&mut self.buffer) {
                Ok(text) => push_text(column, text.as_bytes()).map_err(Invalid::from),
                Err(reason) => return Err(reason.into()),
            },
            Some(b'{' | b'[') => return self.nested(scanner, column),
            Some(b'n') if scanner.word().is_some() => push_null(column).map_err(Invalid::from),
            _ => {
                let text = match scanner.word() {
                    Some(word) => word,
                    None => scanner.number()?,
                };
                push_text(column, text.as_bytes()).map_err(Invalid::from)
            }
        };
        result.map_err(|mut invalid| {
            invalid.value = Some(scanner.since(start).to_string());
            invalid
        })
    }

    fn nested(
        &mut self,
        scanner: &mut Scanner<'_>,
        column: &mut ColumnBuilder,
    ) -> Result<(), Invalid> {
        let is_object = scanner.peek() == Some(b'{');
        let start = scanner.position();
        let (data_type, parts) = column.parts_mut();
        match parts {
            ColumnParts::List {
                offsets,
                nulls,
                element,
            } if !is_object => {
                scanner.expect(b'[', "of an array")?;
                let mut is_first = true;
                while !scanner.skip_if(b']') {
                    if !is_first {
                        scanner.expect(b',', "or ']' after a value")?;
                    }
                    is_first = false;
                    self.value(scanner, element)?;
                }
                offsets.push(offset(element.len()));
                nulls.append_non_null();
            }
            ColumnParts::Map {
                offsets,
                nulls,
                key,
                value,
            } if is_object => {
                scanner.expect(b'{', "of an object")?;
                let mut is_first = true;
                while !scanner.skip_if(b'}') {
                    if !is_first {
                        scanner.expect(b',', "or '}' after a value")?;
                    }
                    is_first = false;
                    let name = scanner.string(&mut self.key)?;
                    push_text(key, name.as_bytes())?;
                    let name = name.to_string();
                    scanner.expect(b':', "after a name")?;
                    let result = self.value(scanner, value);
                    result.map_err(|invalid| invalid.inside(&name))?;
                }
                offsets.push(offset(value.len()));
                nulls.append_non_null();
            }
            ColumnParts::Struct { nulls, fields } if is_object => {
                let LogicalType::Row(names) = &data_type.logical else {
                    unreachable!("a struct column is of type ROW")
                };
                self.object(scanner, names, nulls.len(), fields)?;
                nulls.append_non_null();
            }
            ColumnParts::String(builder) => {
                self.buffer.clear();
                scanner.skip_value(Some(&mut self.buffer))?;
                builder.append_value(&self.buffer);
            }
            _ => {
                let reason = format!("not a value of type {data_type}");
                scanner.skip_value(None)?;
                return Err(Invalid {
                    path: Vec::new(),
                    value: Some(scanner.since(start).to_string()),
                    reason,
                });
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        scanner: &mut Scanner<'_>,
        names: &[Field],
        rows: usize,
        fields: &mut [ColumnBuilder],
    ) -> Result<(), Invalid> {
        scanner.expect(b'{', "of an object")?;
        let (mut next, mut is_first) = (0, true);
        while !scanner.skip_if(b'}') {
            if !is_first {
                scanner.expect(b',', "or '}' after a value")?;
            }
            is_first = false;
            let name = scanner.string(&mut self.key)?;
            let field = match names.get(next) {
                Some(guess) if guess.name == name => Some(next),
                _ => names.iter().position(|other| other.name == name),
            };
            scanner.expect(b':', "after a name")?;
            let Some(field) = field else {
                scanner.skip_value(None)?;
                continue;
            };
            next = field + 1;
            let result = if fields[field].len() > rows {
                Err("the name occurs twice".to_string().into())
            } else {
                self.value(scanner, &mut fields[field])
            };
            result.map_err(|invalid| invalid.inside(&names[field].name))?;
        }
        for (field, name) in fields.iter_mut().zip(names) {
            if field.len() == rows {
                self.missing(field)
                    .map_err(|invalid| invalid.inside(&name.name))?;
            }
        }
        Ok(())
    }
}

//! Reads records into columns.
//!
//! Many records are taken apart first; then column by column the fields are appended, so that the
//! column's type is known to the branch predictor. A record that is not valid gets NULLs and is
//! thrown away when the batch is taken.

use aquifer_table_common::connector::{DecodeError, Decoded, Decoder, DecoderContext};
use aquifer_types::{ChangeBatch, ColumnBuilder, ColumnParts};

use super::options::CsvOptions;
use super::scanner::{Fields, Found, Scanner};
use crate::append::{Reason, offset, push_null, push_text, settle};
use crate::collector::Collector;
use crate::text::BYTE_ORDER_MARK;

pub(super) struct CsvDecoder {
    options: CsvOptions,
    scanner: Scanner,
    names: Vec<String>,
    projection: Vec<usize>,
    rows: Collector,
    origin: String,
    line: u64,
    /// Nothing of the origin has been read.
    is_at_begin: bool,
    fields: Fields,
    /// Of each record of the current call: its position and line.
    records: Vec<(usize, u64)>,
}

/// A record of the current call that is not valid.
struct Invalid {
    record: usize,
    column: Option<usize>,
    reason: Reason,
}

impl CsvDecoder {
    pub(super) fn new(options: CsvOptions, context: &DecoderContext) -> Self {
        CsvDecoder {
            scanner: Scanner::new(options.dialect),
            options,
            names: context.fields.iter().map(|f| f.name.clone()).collect(),
            projection: context.projection.clone(),
            rows: Collector::new(context),
            origin: String::new(),
            line: 1,
            is_at_begin: false,
            fields: Fields::default(),
            records: Vec::new(),
        }
    }

    /// Skips the byte order mark and the header; nothing if they are not there as a whole.
    fn skip_begin(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let mut at = 0;
        if bytes.starts_with(BYTE_ORDER_MARK) {
            at = BYTE_ORDER_MARK.len();
        } else if !is_end && BYTE_ORDER_MARK.starts_with(bytes) {
            return None;
        }
        while self.options.header {
            match self.scanner.scan(bytes, at, is_end, &mut self.fields) {
                Found::Incomplete => return None,
                Found::End if !is_end => return None,
                Found::End => break,
                Found::Nothing(extent) => {
                    at = extent.next;
                    self.line += extent.lines;
                }
                Found::Record(extent) | Found::Broken(extent, _) => {
                    at = extent.next;
                    self.line += extent.lines;
                    break;
                }
            }
        }
        self.is_at_begin = false;
        Some(at)
    }

    fn error(&self, bytes: &[u8], invalid: Invalid) -> DecodeError {
        let (start, line) = self.records[invalid.record];
        let value = match invalid.column {
            Some(column) => self
                .fields
                .text(bytes, invalid.record * self.names.len() + column),
            None => {
                let record = &bytes[start..];
                let end = record.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                &record[..end.unwrap_or(record.len())]
            }
        };
        DecodeError {
            origin: self.origin.clone(),
            line,
            column: invalid.column.map(|column| self.names[column].clone()),
            value: Some(String::from_utf8_lossy(&value[..value.len().min(1000)]).into_owned()),
            reason: invalid.reason,
        }
    }

    /// Appends the fields of `count` records; the records that are not valid, by number.
    fn append(&mut self, bytes: &[u8], count: usize) -> Vec<Invalid> {
        let mut invalid: Vec<Invalid> = Vec::new();
        let arity = self.names.len();
        let before = self.rows.rows();
        for (column, field) in self.rows.columns.iter_mut().zip(&self.projection) {
            for record in 0..count {
                let text = self.fields.text(bytes, record * arity + field);
                if let Err(reason) = push_field(column, text, &self.options) {
                    settle(column, before + record + 1);
                    invalid.push(Invalid {
                        record,
                        column: Some(*field),
                        reason,
                    });
                }
            }
        }
        self.rows.add_rows(count);
        // The first bad column of each record speaks for it.
        invalid.sort_by_key(|invalid| (invalid.record, invalid.column));
        invalid.dedup_by_key(|invalid| invalid.record);
        invalid
    }
}

impl Decoder for CsvDecoder {
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
        self.fields.clear();
        self.records.clear();
        let mut at = 0;
        if self.is_at_begin {
            match self.skip_begin(bytes, is_end) {
                Some(begin) => at = begin,
                None => return Ok(Decoded { bytes: 0, rows: 0 }),
            }
            self.fields.clear();
        }
        let arity = self.names.len();
        // The first record that cannot be taken apart, and whether it ends the work.
        let mut broken: Option<Invalid> = None;
        let mut skipped = 0;
        while self.records.len() < max_rows {
            let fields = self.records.len() * arity;
            let (extent, reason) = match self.scanner.scan(bytes, at, is_end, &mut self.fields) {
                Found::Incomplete | Found::End => {
                    self.fields.truncate(fields);
                    break;
                }
                Found::Nothing(extent) => {
                    at = extent.next;
                    self.line += extent.lines;
                    continue;
                }
                Found::Record(extent) => {
                    let found = self.fields.len() - fields;
                    let reason = (found != arity)
                        .then(|| format!("the record has {found} fields, the table {arity}"));
                    (extent, reason)
                }
                Found::Broken(extent, reason) => (extent, Some(reason.to_string())),
            };
            match reason {
                None => self.records.push((at, self.line)),
                Some(_) if self.options.ignore_parse_errors => {
                    self.fields.truncate(fields);
                    skipped += 1;
                }
                Some(reason) => {
                    self.fields.truncate(fields);
                    self.records.push((at, self.line));
                    broken = Some(Invalid {
                        record: self.records.len() - 1,
                        column: None,
                        reason,
                    });
                    break;
                }
            }
            at = extent.next;
            self.line += extent.lines;
        }

        let count = self.records.len() - usize::from(broken.is_some());
        let before = self.rows.rows();
        let invalid = self.append(bytes, count);
        if self.options.ignore_parse_errors {
            self.rows
                .reject(invalid.iter().map(|invalid| before + invalid.record));
            self.rows.count_skipped(skipped + invalid.len() as u64);
            return Ok(Decoded {
                bytes: at,
                rows: count - invalid.len(),
            });
        }
        match invalid.into_iter().next().or(broken) {
            None => Ok(Decoded {
                bytes: at,
                rows: count,
            }),
            Some(first) => {
                self.rows.reject((before + first.record)..(before + count));
                Err(self.error(bytes, first))
            }
        }
    }

    fn take(&mut self) -> ChangeBatch {
        self.rows.take()
    }

    fn skipped(&self) -> u64 {
        self.rows.skipped()
    }
}

/// Appends a field, which may be NULL or a list.
#[inline]
fn push_field(column: &mut ColumnBuilder, text: &[u8], options: &CsvOptions) -> Result<(), Reason> {
    if options.null_literal.as_deref() == Some(text) {
        return push_null(column);
    }
    match column.parts_mut().1 {
        ColumnParts::String(_) => push_text(column, text),
        _ if text.is_empty() => push_null(column),
        ColumnParts::List { .. } | ColumnParts::Struct { .. } => push_list(column, text, options),
        _ => push_text(column, text),
    }
}

fn push_list(column: &mut ColumnBuilder, text: &[u8], options: &CsvOptions) -> Result<(), Reason> {
    let mut rest = Some(text);
    let mut next = || {
        let text = rest?;
        let delimiter = &options.element_delimiter[..];
        let end = text
            .windows(delimiter.len())
            .position(|part| part == delimiter);
        rest = end.map(|end| &text[end + delimiter.len()..]);
        Some(&text[..end.unwrap_or(text.len())])
    };
    match column.parts_mut().1 {
        ColumnParts::List {
            offsets,
            nulls,
            element,
        } => {
            while let Some(text) = next() {
                push_field(element, text, options)?;
            }
            offsets.push(offset(element.len()));
            nulls.append_non_null();
        }
        ColumnParts::Struct { nulls, fields } => {
            for field in fields.iter_mut() {
                let text = next().ok_or("the field has too few parts")?;
                push_field(field, text, options)?;
            }
            if next().is_some() {
                return Err("the field has too many parts".to_string());
            }
            nulls.append_non_null();
        }
        _ => return push_text(column, text),
    }
    Ok(())
}

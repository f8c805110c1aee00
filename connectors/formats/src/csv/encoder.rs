//! Writes the rows of a batch as records.
//!
//! A field is quoted only where it would be read otherwise without. A value that the dialect cannot
//! express is an error, never a record that reads back as something else.

use aquifer_runtime::RuntimeError;
use aquifer_runtime::error::{ConnectorFailure, SinkError};
use aquifer_table_common::Result;
use aquifer_table_common::connector::Encoder;
use aquifer_types::{ChangeBatch, Field};

use super::options::CsvOptions;
use crate::cells::{CellKind, Cells, TimestampStyle, range, require_insertions};
use crate::text::BYTE_ORDER_MARK;

pub(super) struct CsvEncoder {
    options: CsvOptions,
    fields: Vec<Field>,
    /// The text of the field being written.
    text: Vec<u8>,
}

impl CsvEncoder {
    pub(super) fn new(options: CsvOptions, fields: &[Field]) -> Self {
        CsvEncoder {
            options,
            fields: fields.to_vec(),
            text: Vec::new(),
        }
    }

    /// Appends a field. `is_record_start`: it is the first of its record.
    fn write_field(&self, column: usize, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let dialect = &self.options.dialect;
        let is_special = |byte: &u8| {
            *byte == dialect.delimiter
                || matches!(byte, b'\n' | b'\r')
                || Some(*byte) == dialect.quote
                || Some(*byte) == dialect.escape
        };
        let is_comment = column == 0
            && (dialect.comments && text.first() == Some(&b'#')
                || text.starts_with(BYTE_ORDER_MARK));
        let is_empty_line = self.fields.len() == 1 && text.is_empty();
        if !is_comment && !is_empty_line && !text.iter().any(is_special) {
            out.extend_from_slice(text);
            return Ok(());
        }
        if let Some(quote) = dialect.quote {
            out.push(quote);
            for byte in text {
                match dialect.escape {
                    Some(escape) if *byte == quote || *byte == escape => out.push(escape),
                    None if *byte == quote => out.push(quote),
                    _ => {}
                }
                out.push(*byte);
            }
            out.push(quote);
            return Ok(());
        }
        match dialect.escape {
            Some(escape) if !is_empty_line => {
                for (index, byte) in text.iter().enumerate() {
                    match byte {
                        b'\n' => out.extend_from_slice(&[escape, b'n']),
                        b'\r' => out.extend_from_slice(&[escape, b'r']),
                        byte if is_special(byte) || (is_comment && index == 0) => {
                            out.extend_from_slice(&[escape, *byte]);
                        }
                        byte => out.push(*byte),
                    }
                }
                Ok(())
            }
            _ => {
                let reason = if is_empty_line {
                    "a record of one empty field is an empty line, which is skipped on reading"
                } else {
                    "it holds a character that only quotes could hold"
                };
                Err(self.refused(
                    column,
                    text,
                    &format!("{reason}; set 'csv.disable-quote-character' to 'false'"),
                ))
            }
        }
    }

    fn refused(
        &self,
        column: usize,
        text: &[u8],
        reason: &str,
    ) -> aquifer_table_common::TableError {
        let name = &self.fields[column].name;
        let text = String::from_utf8_lossy(&text[..text.len().min(100)]);
        let failure = ConnectorFailure::user(
            "csv",
            format!("cannot write value '{text}' of column '{name}': {reason}"),
        );
        RuntimeError::from(SinkError::Record(failure.into())).into()
    }

    /// The text of a cell, without quotes; the NULL literal for NULL.
    fn cell_text(
        &self,
        column: usize,
        cells: &Cells<'_>,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if cells.is_null(row) {
            out.extend_from_slice(self.options.null_literal.as_deref().unwrap_or_default());
            return Ok(());
        }
        match &cells.kind {
            CellKind::List { offsets, element } => {
                for (nth, index) in range(offsets, row).enumerate() {
                    self.part_text(column, nth, element, index, out)?;
                }
            }
            CellKind::Struct(fields) => {
                for (nth, field) in fields.iter().enumerate() {
                    self.part_text(column, nth, field, row, out)?;
                }
            }
            _ => cells.write_scalar(row, TimestampStyle::Sql, out),
        }
        Ok(())
    }

    fn part_text(
        &self,
        column: usize,
        nth: usize,
        cells: &Cells<'_>,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let delimiter = &self.options.element_delimiter[..];
        if nth > 0 {
            out.extend_from_slice(delimiter);
        }
        let start = out.len();
        self.cell_text(column, cells, row, out)?;
        let text = &out[start..];
        if text.windows(delimiter.len()).any(|part| part == delimiter) {
            return Err(self.refused(
                column,
                text,
                "it holds the element delimiter; set 'csv.array-element-delimiter' to another text",
            ));
        }
        Ok(())
    }
}

impl Encoder for CsvEncoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        if !self.options.header {
            return;
        }
        for (column, field) in self.fields.iter().enumerate() {
            if column > 0 {
                out.push(self.options.dialect.delimiter);
            }
            if self
                .write_field(column, field.name.as_bytes(), out)
                .is_err()
            {
                // The header is not read back, so a name that cannot be written may be changed.
                out.extend(field.name.bytes().filter(u8::is_ascii_alphanumeric));
            }
        }
        out.push(b'\n');
    }

    fn encode(&mut self, batch: &ChangeBatch, out: &mut Vec<u8>) -> Result<()> {
        require_insertions(batch)?;
        let columns = batch.columns().iter().zip(&self.fields);
        let columns: Vec<Cells<'_>> = columns.map(|(c, f)| Cells::new(c, &f.data_type)).collect();
        let mut text = std::mem::take(&mut self.text);
        for row in 0..batch.len() {
            if batch.weight(row) == 0 {
                continue;
            }
            let start = out.len();
            for (column, cells) in columns.iter().enumerate() {
                if column > 0 {
                    out.push(self.options.dialect.delimiter);
                }
                text.clear();
                self.cell_text(column, cells, row, &mut text)?;
                self.write_field(column, &text, out)?;
            }
            out.push(b'\n');
            let end = out.len();
            for _ in 1..batch.weight(row) {
                out.extend_from_within(start..end);
            }
        }
        self.text = text;
        Ok(())
    }
}

//! Writes the rows of a batch as objects.

use std::io::Write as _;

use aquifer_runtime::RuntimeError;
use aquifer_runtime::error::{ConnectorFailure, SinkError};
use aquifer_table_common::Result;
use aquifer_table_common::connector::Encoder;
use aquifer_types::{ChangeBatch, Field, LogicalType};

use super::options::{JsonOptions, MapNullKeyMode};
use crate::cells::{CellKind, Cells, range, require_insertions};

pub(super) struct JsonEncoder {
    options: JsonOptions,
    fields: Vec<Field>,
    names: Names,
}

/// The names of a row's fields as they are written, `"name":`, with those of nested rows.
#[derive(Default)]
struct Names {
    texts: Vec<Vec<u8>>,
    /// Names inside of each field: of a ROW's fields; of what an ARRAY, a MAP holds.
    inner: Vec<Names>,
}

impl Names {
    fn of(fields: &[Field]) -> Self {
        let mut names = Names::default();
        for field in fields {
            let mut text = Vec::new();
            write_string(&field.name, &mut text);
            text.push(b':');
            names.texts.push(text);
            names.inner.push(Names::inside(&field.data_type.logical));
        }
        names
    }

    fn inside(logical: &LogicalType) -> Self {
        match logical {
            LogicalType::Row(fields) => Names::of(fields),
            LogicalType::Array(element) | LogicalType::Map(_, element) => {
                Names::inside(&element.logical)
            }
            _ => Names::default(),
        }
    }
}

impl JsonEncoder {
    pub(super) fn new(options: JsonOptions, fields: &[Field]) -> Self {
        JsonEncoder {
            options,
            fields: fields.to_vec(),
            names: Names::of(fields),
        }
    }

    fn write_object(
        &self,
        columns: &[Cells<'_>],
        row: usize,
        names: &Names,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.push(b'{');
        let mut is_first = true;
        for (index, cells) in columns.iter().enumerate() {
            if self.options.ignore_null_fields && cells.is_null(row) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            out.extend_from_slice(&names.texts[index]);
            self.write_value(cells, row, &names.inner[index], out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn write_value(
        &self,
        cells: &Cells<'_>,
        row: usize,
        names: &Names,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if cells.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match &cells.kind {
            CellKind::String(array) => write_string(array.value(row), out),
            CellKind::List { offsets, element } => {
                out.push(b'[');
                for (nth, index) in range(offsets, row).enumerate() {
                    if nth > 0 {
                        out.push(b',');
                    }
                    self.write_value(element, index, names, out)?;
                }
                out.push(b']');
            }
            CellKind::Map {
                offsets,
                key,
                value,
            } => {
                out.push(b'{');
                let mut is_first = true;
                for index in range(offsets, row) {
                    let key = match &key.kind {
                        CellKind::String(keys) if !key.is_null(index) => keys.value(index),
                        _ => match self.options.map_null_key_mode {
                            MapNullKeyMode::Drop => continue,
                            MapNullKeyMode::Literal => &self.options.map_null_key_literal,
                            MapNullKeyMode::Fail => return Err(null_key()),
                        },
                    };
                    if !std::mem::take(&mut is_first) {
                        out.push(b',');
                    }
                    write_string(key, out);
                    out.push(b':');
                    self.write_value(value, index, names, out)?;
                }
                out.push(b'}');
            }
            CellKind::Struct(fields) => self.write_object(fields, row, names, out)?,
            CellKind::Float(array) if !array.value(row).is_finite() => {
                self.write_quoted(cells, row, out);
            }
            CellKind::Double(array) if !array.value(row).is_finite() => {
                self.write_quoted(cells, row, out);
            }
            _ if cells.is_number_or_boolean() => {
                cells.write_scalar(row, self.options.timestamps, out);
            }
            // Base64, dates and times have no character that must be escaped.
            _ => self.write_quoted(cells, row, out),
        }
        Ok(())
    }

    fn write_quoted(&self, cells: &Cells<'_>, row: usize, out: &mut Vec<u8>) {
        out.push(b'"');
        cells.write_scalar(row, self.options.timestamps, out);
        out.push(b'"');
    }
}

fn null_key() -> aquifer_table_common::TableError {
    let failure = ConnectorFailure::user(
        "json",
        "cannot write a map with a NULL key; set 'json.map-null-key.mode' to 'DROP' or 'LITERAL'",
    );
    RuntimeError::from(SinkError::Record(failure.into())).into()
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 => b"",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..at]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.extend_from_slice(escape);
        }
        copied = at + 1;
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

impl Encoder for JsonEncoder {
    fn encode(&mut self, batch: &ChangeBatch, out: &mut Vec<u8>) -> Result<()> {
        require_insertions(batch)?;
        let columns = batch.columns().iter().zip(&self.fields);
        let columns: Vec<Cells<'_>> = columns.map(|(c, f)| Cells::new(c, &f.data_type)).collect();
        for row in 0..batch.len() {
            if batch.weight(row) == 0 {
                continue;
            }
            let start = out.len();
            self.write_object(&columns, row, &self.names, out)?;
            out.push(b'\n');
            let end = out.len();
            for _ in 1..batch.weight(row) {
                out.extend_from_within(start..end);
            }
        }
        Ok(())
    }
}

//! Key columns to dense group numbers.
//!
//! Operators keep their state in columns indexed by group number, so the hash table is asked once per row and batch
//! and everything else is array arithmetic. Numbers of removed groups are given out again.
//!
//! Three forms, chosen by the key's types: up to three columns of at most 64 bits each are kept as words; one text
//! or bytes column is kept as its bytes; all else as `arrow-row` bytes. Bytes lie in one arena that is compacted when
//! more than half of it belongs to removed groups. NULL is a key value of its own and equals NULL.

mod bytes_table;
mod word_table;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};

use self::bytes_table::BytesTable;
use self::word_table::WordTable;
use super::fixed_width::word_bytes;

/// What [`GroupIndex::find`] answers for a key that has no group.
pub const NO_GROUP: u32 = u32::MAX;

/// Maps keys to dense group numbers. See the module's description.
pub struct GroupIndex {
    types: Vec<DataType>,
    form: Form,
    free: Vec<u32>,
}

enum Form {
    /// No key columns: one group, 0; true once it was asked for.
    Unit(bool),
    One(WordTable<1>),
    Two(WordTable<2>),
    Three(WordTable<3>),
    Bytes(BytesTable, BytesForm),
}

enum BytesForm {
    Text,
    Binary,
    Encoded(RowConverter),
}

impl GroupIndex {
    /// An empty index for keys of these Arrow types.
    ///
    /// # Errors
    /// When a type has no `arrow-row` form.
    pub fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let words = types
            .iter()
            .all(|data_type| word_bytes(data_type).is_some());
        let form = match (words, types) {
            (_, []) => Form::Unit(false),
            (true, [_]) => Form::One(WordTable::default()),
            (true, [_, _]) => Form::Two(WordTable::default()),
            (true, [_, _, _]) => Form::Three(WordTable::default()),
            (_, [DataType::Utf8]) => Form::Bytes(BytesTable::default(), BytesForm::Text),
            (_, [DataType::Binary]) => Form::Bytes(BytesTable::default(), BytesForm::Binary),
            _ => {
                let fields = types.iter().cloned().map(SortField::new).collect();
                Form::Bytes(
                    BytesTable::default(),
                    BytesForm::Encoded(RowConverter::new(fields)?),
                )
            }
        };
        Ok(GroupIndex {
            types: types.to_vec(),
            form,
            free: Vec::new(),
        })
    }

    /// Writes the group of each row to `out` (cleared before); unknown keys get a new group.
    ///
    /// # Errors
    /// When the columns are not of the index's types.
    pub fn assign(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        check_types(&self.types, columns)?;
        out.clear();
        out.reserve(rows);
        let free = &mut self.free;
        match &mut self.form {
            Form::Unit(used) => {
                *used |= rows > 0;
                out.resize(rows, 0);
            }
            Form::One(table) => table.assign(columns, rows, free, out),
            Form::Two(table) => table.assign(columns, rows, free, out),
            Form::Three(table) => table.assign(columns, rows, free, out),
            Form::Bytes(table, form) => match KeyBytes::new(form, columns)? {
                KeyBytes::Text(text) => {
                    table.assign(
                        rows,
                        |row| text.is_valid(row).then(|| text.value(row).as_bytes()),
                        free,
                        out,
                    );
                }
                KeyBytes::Binary(bytes) => {
                    table.assign(
                        rows,
                        |row| bytes.is_valid(row).then(|| bytes.value(row)),
                        free,
                        out,
                    );
                }
                KeyBytes::Encoded(encoded) => {
                    table.assign(rows, |row| Some(encoded.row(row).data()), free, out);
                }
            },
        }
        Ok(())
    }

    /// Writes the group of each row to `out` (cleared before); [`NO_GROUP`] for unknown keys.
    ///
    /// # Errors
    /// When the columns are not of the index's types.
    pub fn find(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        check_types(&self.types, columns)?;
        out.clear();
        out.reserve(rows);
        match &mut self.form {
            Form::Unit(used) => out.resize(rows, if *used { 0 } else { NO_GROUP }),
            Form::One(table) => table.find(columns, rows, out),
            Form::Two(table) => table.find(columns, rows, out),
            Form::Three(table) => table.find(columns, rows, out),
            Form::Bytes(table, form) => match KeyBytes::new(form, columns)? {
                KeyBytes::Text(text) => {
                    table.find(
                        rows,
                        |row| text.is_valid(row).then(|| text.value(row).as_bytes()),
                        out,
                    );
                }
                KeyBytes::Binary(bytes) => {
                    table.find(
                        rows,
                        |row| bytes.is_valid(row).then(|| bytes.value(row)),
                        out,
                    );
                }
                KeyBytes::Encoded(encoded) => {
                    table.find(rows, |row| Some(encoded.row(row).data()), out);
                }
            },
        }
        Ok(())
    }

    /// Forgets groups; their numbers are given out again. Each must be a live group, named once.
    pub fn remove(&mut self, groups: &[u32]) {
        match &mut self.form {
            Form::Unit(used) => {
                *used &= groups.is_empty();
                return;
            }
            Form::One(table) => table.remove(groups),
            Form::Two(table) => table.remove(groups),
            Form::Three(table) => table.remove(groups),
            Form::Bytes(table, _) => table.remove(groups),
        }
        self.free.extend_from_slice(groups);
    }

    /// The key columns of live groups.
    ///
    /// # Errors
    /// When stored bytes cannot be read back, which would be a fault of this index.
    pub fn keys(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        match &self.form {
            Form::Unit(_) => Ok(Vec::new()),
            Form::One(table) => Ok(table.keys(&self.types, groups)),
            Form::Two(table) => Ok(table.keys(&self.types, groups)),
            Form::Three(table) => Ok(table.keys(&self.types, groups)),
            Form::Bytes(table, form) => {
                let keys = groups.iter().map(|group| table.key(*group));
                match form {
                    BytesForm::Text => {
                        let text = keys.map(|key| key.map(std::str::from_utf8).transpose());
                        let text = text.collect::<Result<StringArray, _>>();
                        Ok(vec![Arc::new(text.map_err(|error| {
                            ArrowError::ExternalError(Box::new(error))
                        })?)])
                    }
                    BytesForm::Binary => Ok(vec![Arc::new(keys.collect::<BinaryArray>())]),
                    BytesForm::Encoded(converter) => {
                        let parser = converter.parser();
                        converter
                            .convert_rows(keys.map(|key| parser.parse(key.unwrap_or_default())))
                    }
                }
            }
        }
    }

    /// The live groups in rising order.
    pub fn groups(&self) -> Vec<u32> {
        live(self.bound(), &self.free)
    }

    /// The number of live groups.
    pub fn len(&self) -> usize {
        self.bound() - self.free.len()
    }

    /// True without live groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All group numbers are below this: the length that columns indexed by group need.
    pub fn bound(&self) -> usize {
        match &self.form {
            Form::Unit(used) => usize::from(*used),
            Form::One(table) => table.keys.len(),
            Form::Two(table) => table.keys.len(),
            Form::Three(table) => table.keys.len(),
            Form::Bytes(table, _) => table.spans.len(),
        }
    }

    /// The types of the key columns.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Bytes held.
    pub fn size_bytes(&self) -> usize {
        let form = match &self.form {
            Form::Unit(_) => 0,
            Form::One(table) => table.size_bytes(),
            Form::Two(table) => table.size_bytes(),
            Form::Three(table) => table.size_bytes(),
            Form::Bytes(table, _) => table.size_bytes(),
        };
        form + self.free.capacity() * size_of::<u32>()
    }
}

fn check_types(types: &[DataType], columns: &[ArrayRef]) -> Result<(), ArrowError> {
    if columns.len() == types.len()
        && columns
            .iter()
            .zip(types)
            .all(|(column, t)| column.data_type() == t)
    {
        return Ok(());
    }
    let found: Vec<&DataType> = columns.iter().map(|column| column.data_type()).collect();
    Err(ArrowError::SchemaError(format!(
        "key columns of types {found:?} given to an index of {types:?}"
    )))
}

/// The numbers below `bound` that are not free, in rising order.
pub(crate) fn live(bound: usize, free: &[u32]) -> Vec<u32> {
    let all = 0..bound as u32;
    if free.is_empty() {
        return all.collect();
    }
    let mut is_free = vec![false; bound];
    free.iter()
        .for_each(|number| is_free[*number as usize] = true);
    all.filter(|number| !is_free[*number as usize]).collect()
}

fn next_group(free: &mut Vec<u32>, bound: usize) -> u32 {
    free.pop().unwrap_or_else(|| {
        u32::try_from(bound).expect("an operator instance holds fewer than 2^32 groups")
    })
}

/// The bytes of a batch's keys.
enum KeyBytes<'a> {
    Text(&'a StringArray),
    Binary(&'a BinaryArray),
    Encoded(Rows),
}

impl<'a> KeyBytes<'a> {
    fn new(form: &BytesForm, columns: &'a [ArrayRef]) -> Result<Self, ArrowError> {
        Ok(match form {
            BytesForm::Text => KeyBytes::Text(columns[0].as_string()),
            BytesForm::Binary => KeyBytes::Binary(columns[0].as_binary()),
            BytesForm::Encoded(converter) => KeyBytes::Encoded(converter.convert_columns(columns)?),
        })
    }
}

#[cfg(test)]
mod tests;

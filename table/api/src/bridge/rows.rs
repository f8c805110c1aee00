//! Rows and timestamps of a stream to columns.

use aquifer_runtime::{NO_TIMESTAMP, RuntimeError, StreamBatch};
use aquifer_types::{
    ChangeBatch, ChangeBatchBuilder, ChangelogMode, DataType, LogicalType, Row, RowKind, Timestamp,
    Value,
};
use arrow_array::{Array, ArrayRef, Int64Array};

use super::columns::SourceColumn;

const NO_ROWTIME: &str = "a record has no timestamp, but the table asks for its 'rowtime'; assign timestamps with \
                          assign_timestamps_and_watermarks before the stream becomes a table";

/// The records' timestamps as a column.
pub(super) fn timestamps(
    millis: &[i64],
    rows: usize,
    data_type: &DataType,
) -> aquifer_runtime::Result<ArrayRef> {
    if millis.len() < rows || millis.contains(&NO_TIMESTAMP) {
        return Err(RuntimeError::user(NO_ROWTIME));
    }
    let factor = match data_type.logical {
        LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if p > 6 => 1_000_000,
        _ => 1_000,
    };
    let values =
        Int64Array::from_iter_values(millis.iter().map(|millis| millis.saturating_mul(factor)));
    let data = values
        .into_data()
        .into_builder()
        .data_type(data_type.to_arrow())
        .build();
    Ok(arrow_array::make_array(
        data.map_err(RuntimeError::internal)?,
    ))
}

/// Converts rows, which carry kinds and maybe names.
#[derive(Clone)]
pub(super) struct RowReader {
    pub(super) columns: Vec<SourceColumn>,
    pub(super) types: Vec<DataType>,
    /// The names of the fields by position.
    pub(super) names: Vec<String>,
    pub(super) mode: ChangelogMode,
    pub(super) lenient_inserts: bool,
}

impl RowReader {
    pub(super) fn read(&self, batch: &StreamBatch<Row>) -> aquifer_runtime::Result<ChangeBatch> {
        let mut builder = ChangeBatchBuilder::new(&self.types, batch.len());
        for (number, row) in batch.values().iter().enumerate() {
            self.check_kind(row)?;
            for (index, source) in self.columns.iter().enumerate() {
                let value = match source.field {
                    Some(field) => self.value(row, field)?,
                    None => &timestamp(batch.timestamp(number), &source.column.data_type)?,
                };
                let column = builder.column_mut(index).expect("one builder per column");
                column.push(value).map_err(|error| {
                    RuntimeError::user(format!(
                        "cannot convert field '{}' of row {row}: {error}",
                        source.column.name
                    ))
                })?;
            }
            builder.push_weight(row.kind().weight());
        }
        Ok(builder.finish())
    }

    /// The field of a row: by name if the row has names, else by position.
    fn value<'r>(&self, row: &'r Row, field: usize) -> aquifer_runtime::Result<&'r Value> {
        let value = match row.names() {
            Some(_) => row.field_by_name(&self.names[field]),
            None if row.arity() == self.names.len() => row.field(field),
            None => None,
        };
        value.ok_or_else(|| {
            RuntimeError::user(format!(
                "row {row} has no field '{}': the stream's rows have {}",
                self.names[field],
                self.names.join(", ")
            ))
        })
    }

    fn check_kind(&self, row: &Row) -> aquifer_runtime::Result<()> {
        let kind = row.kind();
        if self.mode.contains(kind) || (self.lenient_inserts && kind == RowKind::UpdateAfter) {
            return Ok(());
        }
        let remedy = if self.mode.is_insert_only() {
            "read the stream with from_changelog_stream"
        } else {
            "name a changelog mode with that kind"
        };
        Err(RuntimeError::user(format!(
            "row {row} is of kind {kind}, but the stream holds only {}; {remedy}",
            self.mode
        )))
    }
}

fn timestamp(millis: i64, data_type: &DataType) -> aquifer_runtime::Result<Value> {
    if millis == NO_TIMESTAMP {
        return Err(RuntimeError::user(NO_ROWTIME));
    }
    let timestamp = Timestamp::from_parts(millis.saturating_mul(1000), 0);
    Ok(match data_type.logical {
        LogicalType::Timestamp(_) => Value::Timestamp(timestamp),
        _ => Value::TimestampLtz(timestamp),
    })
}

//! TUMBLE, HOP and CUMULATE as table functions: each row once for every window it belongs to, with the window's bounds.
//!
//! The columns `window_start`, `window_end` (local times) and `window_time` (the last millisecond of the window, of
//! the time column's type) are appended. Rows without a time are dropped.

use std::sync::Arc;

use aquifer_runtime::Batch;
use aquifer_runtime::error::Result;
use aquifer_runtime::transformation::StepFactory;
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType, DataTypes};
use arrow_array::{ArrayRef, TimestampMicrosecondArray, UInt32Array};

use super::assigner::{TimeReader, WindowKind, WindowTime};
use crate::error::internal;

/// Appends the bounds of each row's windows. See the module's description.
pub struct WindowTableFunction {
    kind: WindowKind,
    time: TimeReader,
    /// True when `window_time` is an instant.
    is_instant: bool,
}

impl WindowTableFunction {
    /// For rows of these types; `zone` is the session's.
    ///
    /// # Errors
    /// When the windows do not exist or the time column is no timestamp.
    pub fn new(
        kind: WindowKind,
        time: WindowTime,
        types: &[DataType],
        zone: TimeZone,
    ) -> Result<Self> {
        kind.validate()?;
        let is_instant = WindowKind::is_instant(time, types);
        Ok(WindowTableFunction {
            kind,
            time: TimeReader::new(time, types, zone)?,
            is_instant,
        })
    }

    /// The types of the three columns that are appended to rows of `types`.
    pub fn window_types(time: WindowTime, types: &[DataType]) -> [DataType; 3] {
        let is_instant = WindowKind::is_instant(time, types);
        let time = if is_instant {
            DataTypes::timestamp_ltz(3)
        } else {
            DataTypes::timestamp(3)
        };
        [
            DataTypes::timestamp(3).not_null(),
            DataTypes::timestamp(3).not_null(),
            time.not_null(),
        ]
    }

    /// Assigns the rows of a batch; `processing_time` counts for windows over processing time.
    ///
    /// # Errors
    /// An internal error when the batch is of other types.
    pub fn assign(&self, batch: &ChangeBatch, processing_time: i64) -> Result<ChangeBatch> {
        let times = self.time.read(batch, processing_time)?;
        let (mut rows, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (row, time) in times.into_iter().enumerate() {
            if let Some(time) = time {
                self.kind.for_each(time, |start, end| {
                    rows.push(row as u32);
                    starts.push(start.saturating_mul(1000));
                    ends.push(end.saturating_mul(1000));
                });
            }
        }
        let assigned = batch.take(&UInt32Array::from(rows)).map_err(internal)?;
        let last = |end: &i64| self.time.instant_of(end / 1000 - 1).saturating_mul(1000);
        let times = TimestampMicrosecondArray::from_iter_values(ends.iter().map(last));
        let mut columns = assigned.columns().to_vec();
        columns.push(Arc::new(TimestampMicrosecondArray::from(starts)));
        columns.push(Arc::new(TimestampMicrosecondArray::from(ends)));
        columns.push(if self.is_instant {
            Arc::new(times.with_timezone("UTC")) as ArrayRef
        } else {
            Arc::new(times)
        });
        assigned.with_columns(columns).map_err(internal)
    }
}

/// A step that appends the windows of event time.
///
/// # Errors
/// As [`WindowTableFunction::new`]; windows over processing time need the epoch's clock and are no step.
pub fn window_table_function(
    kind: WindowKind,
    column: usize,
    types: &[DataType],
    zone: TimeZone,
) -> Result<StepFactory> {
    let function = Arc::new(WindowTableFunction::new(
        kind,
        WindowTime::Rowtime(column),
        types,
        zone,
    )?);
    Ok(Arc::new(move |_| {
        let function = function.clone();
        Ok(Box::new(move |batch: Batch| {
            let batch = batch.into_data::<ChangeBatch>()?;
            Ok(function.assign(&batch, 0)?.into())
        }))
    }))
}

#[cfg(test)]
mod tests {
    use aquifer_types::{Row, Timestamp, Value, row_values};

    use super::*;

    fn check(zone: &str, data_type: DataType, time: &str) -> Vec<String> {
        let types = vec![DataTypes::int(), data_type.clone()];
        let at: Timestamp = time.parse().unwrap();
        let at = if data_type == DataTypes::timestamp_ltz(3) {
            Value::TimestampLtz(at)
        } else {
            Value::Timestamp(at)
        };
        let rows = [
            Row::of(row_values![1, at]),
            Row::of(row_values![2, Value::Null]),
        ];
        let kind = WindowKind::Hop {
            size_ms: 86_400_000,
            slide_ms: 43_200_000,
            offset_ms: 0,
        };
        let function =
            WindowTableFunction::new(kind, WindowTime::Rowtime(1), &types, zone.parse().unwrap())
                .unwrap();
        let batch = ChangeBatch::from_rows(&rows, &types).unwrap();
        let mut all = types.clone();
        all.extend(WindowTableFunction::window_types(
            WindowTime::Rowtime(1),
            &types,
        ));
        function
            .assign(&batch, 0)
            .unwrap()
            .to_rows(&all)
            .iter()
            .map(Row::to_string)
            .collect()
    }

    #[test]
    fn a_row_appears_once_per_window() {
        let rows = check(
            "Asia/Shanghai",
            DataTypes::timestamp(3),
            "2024-01-01 18:00:00.5",
        );
        assert_eq!(
            rows,
            [
                "+I[1, 2024-01-01T18:00:00.500, 2024-01-01T12:00:00, 2024-01-02T12:00:00, 2024-01-02T11:59:59.999]",
                "+I[1, 2024-01-01T18:00:00.500, 2024-01-01T00:00:00, 2024-01-02T00:00:00, 2024-01-01T23:59:59.999]",
            ]
        );
    }

    #[test]
    fn a_day_is_a_local_day() {
        // 18:00 in UTC is 02:00 of the next day in Shanghai; window_time is an instant again.
        let rows = check(
            "Asia/Shanghai",
            DataTypes::timestamp_ltz(3),
            "2024-01-01 18:00:00",
        );
        assert_eq!(
            rows,
            [
                "+I[1, 2024-01-01T18:00:00Z, 2024-01-02T00:00:00, 2024-01-03T00:00:00, 2024-01-02T15:59:59.999Z]",
                "+I[1, 2024-01-01T18:00:00Z, 2024-01-01T12:00:00, 2024-01-02T12:00:00, 2024-01-02T03:59:59.999Z]",
            ]
        );
    }
}

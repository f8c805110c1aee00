//! Makes watermarks from the rows of a table with a `WATERMARK FOR` clause.
//!
//! The watermark is the largest value that the clause's expression ever had on this instance, promised at the end of
//! each epoch that raised it. Rows pass unchanged; late rows are the business of those who use the watermark. An
//! instance without rows for the idle time-out (in processing time) declares itself idle until its next row.
//!
//! Semantics: Flink's `WatermarkAssignerOperator`.

use aquifer_functions::{EvalContext, Evaluator, ResolvedExpr};
use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::time::{MAX_WATERMARK, MIN_WATERMARK, Watermark};
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::error::{internal, user};

const STATE: &str = "watermark";

/// Promises watermarks by an expression. See the module's description.
pub struct WatermarkAssignerOperator {
    rowtime: usize,
    expression: Evaluator,
    context: EvalContext,
    idle_timeout_ms: Option<i64>,
    watermark: i64,
    promised: i64,
    last_row_at: Option<i64>,
    is_idle: bool,
    name: String,
}

impl WatermarkAssignerOperator {
    /// Evaluates `expression`, a TIMESTAMP or TIMESTAMP_LTZ, on each row; the time column `rowtime` must not be NULL.
    /// `zone` is the session's.
    ///
    /// # Errors
    /// When the expression cannot be compiled or is no timestamp.
    pub fn new(
        rowtime: usize,
        expression: &ResolvedExpr,
        idle_timeout_ms: Option<i64>,
        zone: TimeZone,
    ) -> Result<Self> {
        if !matches!(
            expression.data_type().logical,
            LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)
        ) {
            return Err(user(format!(
                "the watermark expression must be a TIMESTAMP or TIMESTAMP_LTZ, but is {}",
                expression.data_type()
            )));
        }
        Ok(WatermarkAssignerOperator {
            rowtime,
            expression: Evaluator::compile(expression).map_err(user)?,
            context: EvalContext {
                time_zone: zone,
                ..EvalContext::default()
            },
            idle_timeout_ms: idle_timeout_ms.filter(|timeout| *timeout > 0),
            watermark: MIN_WATERMARK,
            promised: MIN_WATERMARK,
            last_row_at: None,
            is_idle: false,
            name: String::new(),
        })
    }
}

/// The largest timestamp of a column in milliseconds, rounded down.
fn largest_millis(column: &ArrayRef) -> Result<Option<i64>> {
    let (values, per_millisecond) = match column.data_type() {
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => (
            column.as_primitive::<TimestampMicrosecondType>().values(),
            1_000,
        ),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => (
            column.as_primitive::<TimestampNanosecondType>().values(),
            1_000_000,
        ),
        other => return Err(internal(format!("a watermark is a timestamp, not {other}"))),
    };
    let largest = match column.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => values.iter().max(),
        Some(nulls) => values
            .iter()
            .zip(nulls)
            .filter(|(_, valid)| *valid)
            .map(|(value, _)| value)
            .max(),
    };
    Ok(largest.map(|value| value.div_euclid(per_millisecond)))
}

impl EpochOperator for WatermarkAssignerOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.name = context.name.clone();
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        // After a restore with another number of instances no one knows which rows an instance saw: only the lowest
        // promise still holds for all.
        let mut watermarks = Vec::new();
        for record in state.list(STATE)? {
            let bytes: [u8; 8] = record.as_slice().try_into().map_err(|_| {
                RuntimeError::user(format!(
                    "state '{STATE}' of operator '{}' is corrupt",
                    self.name
                ))
            })?;
            watermarks.push(i64::from_le_bytes(bytes));
        }
        self.watermark = watermarks.into_iter().min().unwrap_or(MIN_WATERMARK);
        Ok(())
    }

    fn process(&mut self, _: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let Some(rows) = batch.data::<ChangeBatch>() else {
            return Err(internal("a watermark assigner reads change batches"));
        };
        if rows.column(self.rowtime).null_count() > 0 {
            return Err(RuntimeError::user(format!(
                "the event time (column {}) of a row is NULL in '{}': a time attribute must not be NULL; filter such \
                 rows out or replace the NULL in the source",
                self.rowtime, self.name
            )));
        }
        self.context.epoch_time_ms = output.processing_time();
        let values = self
            .expression
            .evaluate(rows.columns(), rows.len(), &self.context)
            .map_err(user)?;
        if let Some(largest) = largest_millis(&values)? {
            self.watermark = self.watermark.max(largest);
        }
        self.last_row_at = Some(output.processing_time());
        output.emit(0, batch);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        if output.watermark() == MAX_WATERMARK {
            if self.promised != MAX_WATERMARK {
                self.promised = MAX_WATERMARK;
                output.emit_watermark(Watermark::At(MAX_WATERMARK));
            }
            return Ok(EpochEnd::Done);
        }
        let now = output.processing_time();
        let silent_since = *self.last_row_at.get_or_insert(now);
        let is_idle = self
            .idle_timeout_ms
            .is_some_and(|timeout| now - silent_since >= timeout);
        if is_idle && !self.is_idle {
            output.emit_watermark(Watermark::Idle);
        } else if !is_idle
            && (self.is_idle || self.watermark > self.promised)
            && self.watermark > MIN_WATERMARK
        {
            self.promised = self.watermark;
            output.emit_watermark(Watermark::At(self.watermark));
        }
        self.is_idle = is_idle;
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(
            STATE,
            "BIGINT NOT NULL",
            vec![self.watermark.to_le_bytes().to_vec()],
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use aquifer_runtime::operator::MemoryState;
    use aquifer_runtime::testing::Harness;
    use aquifer_types::{DataType, DataTypes, Timestamp, Value};

    use super::*;
    use crate::testing::{changes, net};

    fn types() -> Vec<DataType> {
        vec![DataTypes::timestamp(3)]
    }

    fn rows(times: &[i64]) -> Batch {
        let time = |time: &i64| {
            (
                vec![Value::Timestamp(Timestamp::from_micros(time * 1000 + 999))],
                1,
            )
        };
        changes(&types(), times.iter().map(time))
    }

    fn assigner(idle_timeout_ms: Option<i64>) -> Harness<WatermarkAssignerOperator> {
        let column = ResolvedExpr::input(0, DataTypes::timestamp(3));
        let expression = ResolvedExpr::call(
            "-",
            [column, ResolvedExpr::literal(Value::IntervalDayTime(2))],
        )
        .unwrap();
        let operator =
            WatermarkAssignerOperator::new(0, &expression, idle_timeout_ms, TimeZone::default());
        Harness::new(operator.unwrap(), 1).unwrap()
    }

    #[test]
    fn promises_the_largest_value_once() {
        let mut harness = assigner(None);
        harness.process(0, rows(&[-5, -7])).unwrap();
        assert_eq!(
            net(harness.end_epoch().unwrap(), &types()).len(),
            2,
            "rows pass"
        );
        assert_eq!(harness.take_watermark(), Some(Watermark::At(-7)));
        harness.process(0, rows(&[-9])).unwrap();
        harness.end_epoch().unwrap();
        assert_eq!(harness.take_watermark(), None, "it does not fall");
        let mut state = MemoryState::default();
        harness.snapshot(&mut state).unwrap();
        let mut restored = assigner(None);
        restored.restore(&state).unwrap();
        restored.end_epoch().unwrap();
        assert_eq!(restored.take_watermark(), Some(Watermark::At(-7)));
        restored.finish().unwrap();
        assert_eq!(
            restored.take_watermark(),
            Some(Watermark::At(MAX_WATERMARK)),
            "the end of the input passes"
        );
    }

    #[test]
    fn a_silent_instance_is_idle_until_its_next_row() {
        let mut harness = assigner(Some(100));
        harness.process(0, rows(&[10])).unwrap();
        harness.end_epoch().unwrap();
        assert_eq!(harness.take_watermark(), Some(Watermark::At(8)));
        harness.set_processing_time(100);
        harness.end_epoch().unwrap();
        assert_eq!(harness.take_watermark(), Some(Watermark::Idle));
        harness.process(0, rows(&[5])).unwrap();
        harness.end_epoch().unwrap();
        assert_eq!(harness.take_watermark(), Some(Watermark::At(8)));
    }

    #[test]
    fn a_row_without_time_is_refused() {
        let error = assigner(None)
            .process(0, changes(&types(), [(vec![Value::Null], 1)]))
            .unwrap_err();
        assert!(error.to_string().contains("NULL"), "{error}");
    }
}

//! A query's result as a data stream.
//!
//! Changes leave an epoch netted: a removed and an added row that are equal are not seen, removed rows come first,
//! and with a known key a removed and an added row of it are one update, `-U` directly followed by `+U`. Results
//! that are only appended pass through a stateless step as they come.

use std::marker::PhantomData;
use std::sync::Arc;

use aquifer_operators::{ChangesToRows, consolidate, consolidate_by_key};
use aquifer_planner::Translated;
use aquifer_runtime::{
    Batch, DataStream, Edge, EpochEnd, EpochOperator, NO_TIMESTAMP, OperatorContext, Output,
    OutputPort, RuntimeError, StreamBatch, StreamCodec, StreamData, StreamExecutionEnvironment,
    Transformation,
};
use aquifer_table_common::operation::QueryOperation;
use aquifer_table_common::{PlanError, Result};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType, Field, Row};
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use super::target::Target;
use crate::conversion::ColumnReader;

/// The changes of a query's result inside the job.
pub(crate) struct Changes {
    port: OutputPort,
    fields: Vec<Field>,
    changelog_mode: ChangelogMode,
    upsert_key: Option<Vec<usize>>,
}

impl Changes {
    /// What the planner made of a query.
    ///
    /// # Errors
    /// `plan.internal` when the planner made something else.
    pub(crate) fn of(translated: Option<Translated>) -> Result<Self> {
        match translated {
            Some(Translated::Output {
                port,
                fields,
                changelog_mode,
                upsert_key,
            }) => Ok(Changes {
                port,
                fields,
                changelog_mode,
                upsert_key,
            }),
            _ => Err(PlanError::Internal {
                message: "a query was planned without an output".to_string(),
            }
            .into()),
        }
    }

    /// The same changes, updated by a key that was declared, if there is one.
    pub(crate) fn keyed(self, key: Option<Vec<usize>>) -> Self {
        Changes {
            upsert_key: key.or(self.upsert_key),
            ..self
        }
    }

    fn types(&self) -> Vec<DataType> {
        self.fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }

    fn names(&self) -> Arc<[String]> {
        self.fields.iter().map(|field| field.name.clone()).collect()
    }

    /// The rows of a result that is only appended, as they come. The column `rowtime` holds their timestamps.
    pub(crate) fn appended<T: StreamData>(
        self,
        env: &StreamExecutionEnvironment,
        target: Target,
        rowtime: Option<usize>,
    ) -> DataStream<T> {
        let reader = Arc::new(Reader::<T>::new(target));
        let step = Transformation::step(
            "TableToStream",
            vec![Edge::forward(self.port)],
            Arc::new(StreamCodec::<T>::new()),
            Arc::new(move |_: &OperatorContext| {
                let reader = Arc::clone(&reader);
                Ok(Box::new(move |batch: Batch| {
                    let batch = batch.into_data::<ChangeBatch>()?;
                    if !batch.is_append_only() {
                        return Err(RuntimeError::internal(
                            "an append-only result holds a retraction",
                        ));
                    }
                    let timestamps = match rowtime {
                        Some(column) => repeated(millis(batch.column(column))?, &batch, |at, _| at),
                        None => Vec::new(),
                    };
                    let values = repeated(reader.read(&batch)?, &batch, |value, _| value);
                    Ok(Batch::new(StreamBatch::from_parts(values, timestamps)))
                }))
            }),
        );
        DataStream::from_output(env, env.add(step), 0)
    }

    /// The net changes of each epoch: `false` takes a value back, `true` adds one.
    pub(crate) fn retracted<T: StreamData>(
        self,
        env: &StreamExecutionEnvironment,
        target: Target,
    ) -> DataStream<(bool, T)> {
        let (reader, key) = (Arc::new(Reader::<T>::new(target)), self.upsert_key);
        let operator = Transformation::operator(
            "TableToRetractStream",
            vec![Edge::forward(self.port)],
            vec![Arc::new(StreamCodec::<(bool, T)>::new())],
            Arc::new(move || {
                Box::new(RetractOperator {
                    reader: Arc::clone(&reader),
                    key: key.clone(),
                    batches: Vec::new(),
                })
            }),
        );
        DataStream::from_output(env, env.add(operator), 0)
    }

    /// The net changes of each epoch as rows with kinds.
    pub(crate) fn rows(self, env: &StreamExecutionEnvironment) -> DataStream<Row> {
        let (types, names, key, mode) = (
            self.types(),
            self.names(),
            self.upsert_key,
            self.changelog_mode,
        );
        let operator = Transformation::operator(
            "TableToChangelogStream",
            vec![Edge::forward(self.port)],
            vec![Arc::new(StreamCodec::<Row>::new())],
            Arc::new(move || {
                let changes = ChangesToRows::new(types.clone(), key.clone(), mode);
                Box::new(ChangelogOperator {
                    changes,
                    names: Arc::clone(&names),
                })
            }),
        );
        DataStream::from_output(env, env.add(operator), 0)
    }
}

/// The column of a query that is its event time, if it has one.
pub(crate) fn rowtime(query: &QueryOperation) -> Option<usize> {
    match query {
        QueryOperation::Watermark(q) => Some(q.column),
        QueryOperation::Filter(q) => rowtime(&q.input),
        QueryOperation::Project(q) => {
            let column = rowtime(&q.input)?;
            q.expressions
                .iter()
                .position(|expression| expression.as_input() == Some(column))
        }
        QueryOperation::Set(q) => {
            let mut columns = q.inputs.iter().map(|input| rowtime(input));
            let first = columns.next()??;
            columns.all(|column| column == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// Event times in milliseconds; no timestamp for NULL.
fn millis(column: &ArrayRef) -> aquifer_runtime::Result<Vec<i64>> {
    let per_milli = match column.data_type() {
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => 1_000,
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => 1_000_000,
        other => {
            return Err(RuntimeError::internal(format!(
                "event time of type {other}"
            )));
        }
    };
    let data = column
        .to_data()
        .into_builder()
        .data_type(ArrowType::Int64)
        .build();
    let values = Int64Array::from(data.map_err(RuntimeError::internal)?);
    Ok(values
        .iter()
        .map(|value| value.map_or(NO_TIMESTAMP, |value| value.div_euclid(per_milli)))
        .collect())
}

/// Reads rows or values.
enum Reader<T> {
    Rows {
        types: Vec<DataType>,
        names: Arc<[String]>,
        values: PhantomData<fn() -> T>,
    },
    Values(ColumnReader<T>),
}

impl<T: StreamData> Reader<T> {
    fn new(target: Target) -> Self {
        let types: Vec<DataType> = target
            .fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect();
        match target.record {
            Some(record) => Reader::Values(ColumnReader::new(&record, &types)),
            None => Reader::Rows {
                types,
                names: target.fields.into_iter().map(|field| field.name).collect(),
                values: PhantomData,
            },
        }
    }

    /// One value per row, whatever its weight.
    fn read(&self, batch: &ChangeBatch) -> aquifer_runtime::Result<Vec<T>> {
        match self {
            Reader::Values(reader) => {
                let columns: &[ArrayRef] = batch.columns();
                reader.read(columns)
            }
            Reader::Rows { types, names, .. } => {
                let row = |index| {
                    let row = batch
                        .row(index, types)
                        .with_kind(aquifer_types::RowKind::Insert);
                    row.named(Arc::clone(names))
                };
                let rows: Vec<Row> = (0..batch.len()).map(row).collect();
                let rows: Box<dyn std::any::Any> = Box::new(rows);
                Ok(*rows
                    .downcast::<Vec<T>>()
                    .expect("this variant is made for rows alone"))
            }
        }
    }
}

/// The values, each as often as its weight says.
fn repeated<T: Clone, R>(
    values: Vec<T>,
    batch: &ChangeBatch,
    make: impl Fn(T, i64) -> R,
) -> Vec<R> {
    if batch.weights().is_none() {
        return values.into_iter().map(|value| make(value, 1)).collect();
    }
    let mut out = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let weight = batch.weight(index);
        for _ in 1..weight.unsigned_abs() {
            out.push(make(value.clone(), weight));
        }
        if weight != 0 {
            out.push(make(value, weight));
        }
    }
    out
}

struct RetractOperator<T> {
    reader: Arc<Reader<T>>,
    /// The columns by which rows are updated, if there are such.
    key: Option<Vec<usize>>,
    /// The changes of the current epoch.
    batches: Vec<ChangeBatch>,
}

impl<T: StreamData> EpochOperator for RetractOperator<T> {
    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        self.batches.push(batch.into_data()?);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> aquifer_runtime::Result<EpochEnd> {
        if !self.batches.is_empty() {
            let batches = std::mem::take(&mut self.batches);
            let net = match &self.key {
                Some(key) => consolidate_by_key(&batches, key)?,
                None => consolidate(&batches)?,
            };
            let values = self.reader.read(&net)?;
            let values = repeated(values, &net, |value, weight| (weight > 0, value));
            output.emit(0, Batch::new(StreamBatch::from_values(values)));
        }
        Ok(EpochEnd::Done)
    }
}

struct ChangelogOperator {
    changes: ChangesToRows,
    names: Arc<[String]>,
}

impl EpochOperator for ChangelogOperator {
    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        self.changes.push(batch.into_data()?);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> aquifer_runtime::Result<EpochEnd> {
        if !self.changes.is_empty() {
            let rows = self.changes.finish()?;
            let rows = rows
                .into_iter()
                .map(|row| row.named(Arc::clone(&self.names)))
                .collect();
            output.emit(0, Batch::new(StreamBatch::from_values(rows)));
        }
        Ok(EpochEnd::Done)
    }
}

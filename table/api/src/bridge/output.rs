//! A query's result as a data stream.
//!
//! Changes leave an epoch netted: a removed and an added row that are equal are not seen, removed rows come first,
//! and with a known key a removed and an added row of it are one update, `-U` directly followed by `+U`. Results
//! that are only appended pass through a stateless step as they come.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use aquifer_functions::ResolvedExpr;
use aquifer_operators::{ChangesToRows, consolidate, consolidate_by_key};
use aquifer_planner::Translated;
use aquifer_runtime::{
    Batch, DataStream, Edge, EpochEnd, EpochOperator, NO_TIMESTAMP, OperatorContext, Output,
    OutputPort, RuntimeError, StreamBatch, StreamCodec, StreamData, StreamExecutionEnvironment,
    Transformation,
};
use aquifer_table_common::operation::{ProjectQuery, QueryOperation};
use aquifer_table_common::{PlanError, Result, SchemaErrorKind, ValidationErrorKind};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType, Field, Row, supports_implicit_cast};
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use super::input::is_same_time;
use crate::conversion::{ColumnReader, RecordType};

/// How the columns of a query find the fields of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    /// By name; columns without a field are left out.
    ByName,
    /// By position.
    ByPosition,
}

/// What a data stream of a query's result holds: rows, or values of a type that was matched with the columns.
pub(crate) struct Target {
    /// `None` for rows.
    record: Option<RecordType>,
    /// The columns as they are read.
    fields: Vec<Field>,
}

impl Target {
    /// Matches the query's columns with `T`; answers the query whose columns fit it.
    ///
    /// # Errors
    /// `schema.column_count`, `schema.type_mismatch`, `validation.unknown_column`, `schema.invalid_type`.
    pub(crate) fn matched<T: StreamData>(
        query: &Arc<QueryOperation>,
        matching: Matching,
    ) -> Result<(Self, Arc<QueryOperation>)> {
        if TypeId::of::<T>() == TypeId::of::<Row>() {
            return Ok((
                Target {
                    record: None,
                    fields: query.fields(),
                },
                Arc::clone(query),
            ));
        }
        let record = RecordType::of::<T>()?;
        let from = query.fields();
        let sources = match_columns(&record, &from, matching)?;
        let mut expressions = Vec::with_capacity(sources.len());
        let mut fields = Vec::with_capacity(sources.len());
        for (source, target) in sources.iter().zip(&record.fields) {
            let data_type = read_type(&record, &from[*source], target)?;
            let value = ResolvedExpr::input(*source, from[*source].data_type.clone());
            let is_same = data_type == from[*source].data_type;
            expressions.push(if is_same {
                value
            } else {
                value.cast(data_type.clone())?
            });
            fields.push(Field::new(&target.name, data_type));
        }
        let is_identity = expressions.len() == from.len()
            && expressions
                .iter()
                .enumerate()
                .all(|(index, e)| e.as_input() == Some(index));
        let matched = if is_identity {
            Arc::clone(query)
        } else {
            let query = ProjectQuery {
                expressions,
                fields: fields.clone(),
                input: Arc::clone(query),
            };
            Arc::new(QueryOperation::Project(query))
        };
        Ok((
            Target {
                record: Some(record),
                fields,
            },
            matched,
        ))
    }
}

/// The query with these columns: by name, cast where that loses nothing.
///
/// # Errors
/// `validation.unknown_column`, `schema.type_mismatch`.
pub(crate) fn columns_of(
    query: &Arc<QueryOperation>,
    wanted: &[Field],
) -> Result<Arc<QueryOperation>> {
    let from = query.fields();
    let mut expressions = Vec::with_capacity(wanted.len());
    for field in wanted {
        let Some(index) = from.iter().position(|column| column.name == field.name) else {
            return Err(ValidationErrorKind::UnknownColumn {
                column: field.name.clone(),
                tables: vec!["the query".to_string()],
                candidates: from.iter().map(|column| column.name.clone()).collect(),
            }
            .into());
        };
        let column = &from[index].data_type;
        let value = ResolvedExpr::input(index, column.clone());
        if column.logical != field.data_type.logical
            && !supports_implicit_cast(column, &field.data_type)
        {
            return Err(SchemaErrorKind::TypeMismatch {
                what: format!("column '{}' of the query", field.name),
                expected: field.data_type.to_string(),
                found: column.to_string(),
            }
            .into());
        }
        let is_same = column.logical == field.data_type.logical;
        expressions.push(if is_same {
            value
        } else {
            value.cast(field.data_type.clone())?
        });
    }
    let typed =
        |(field, e): (&Field, &ResolvedExpr)| Field::new(&field.name, e.data_type().clone());
    let fields = wanted.iter().zip(&expressions).map(typed).collect();
    Ok(Arc::new(QueryOperation::Project(ProjectQuery {
        expressions,
        fields,
        input: Arc::clone(query),
    })))
}

/// The query's column of each field.
fn match_columns(record: &RecordType, from: &[Field], matching: Matching) -> Result<Vec<usize>> {
    let by_name = |field: &Field| from.iter().position(|column| column.name == field.name);
    let is_numbered = record
        .fields
        .iter()
        .enumerate()
        .all(|(index, field)| field.name == format!("f{index}"));
    // The fields of tuples have no names of their own.
    let has_names = !is_numbered || record.fields.iter().all(|field| by_name(field).is_some());
    if matching == Matching::ByName && has_names {
        let find = |field: &Field| {
            by_name(field).ok_or_else(|| {
                ValidationErrorKind::UnknownColumn {
                    column: field.name.clone(),
                    tables: vec![format!("the query, but is a field of {}", record.rust_type)],
                    candidates: from.iter().map(|column| column.name.clone()).collect(),
                }
                .into()
            })
        };
        return record.fields.iter().map(find).collect();
    }
    if record.fields.len() != from.len() {
        return Err(SchemaErrorKind::ColumnCount {
            what: format!("a stream of {}", record.rust_type),
            expected: record.fields.len(),
            found: from.len(),
        }
        .into());
    }
    Ok((0..from.len()).collect())
}

/// The type in which a column is read as a field.
fn read_type(record: &RecordType, from: &Field, target: &Field) -> Result<DataType> {
    let (column, field) = (&from.data_type, &target.data_type);
    if column.to_arrow() == field.to_arrow() {
        return Ok(column.clone());
    }
    // Dates, times and decimals of Rust crates are text for serde, and so is a plain String.
    let reads_text =
        field.is_string() && (column.logical.is_datetime() || column.logical.is_decimal());
    if reads_text || is_same_time(&column.logical, &field.logical) {
        return Ok(column.clone());
    }
    let wanted = field.clone().with_nullable(column.nullable);
    if supports_implicit_cast(column, &wanted) {
        return Ok(wanted);
    }
    Err(SchemaErrorKind::TypeMismatch {
        what: format!(
            "column '{}' of the query, read as field '{}' of {},",
            from.name, target.name, record.rust_type
        ),
        expected: field.clone().with_nullable(true).to_string(),
        found: column.to_string(),
    }
    .into())
}

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

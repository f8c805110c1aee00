//! A data stream as the source of a query.
//!
//! The step gives one column per declared column, in the declared order, physically as near to the declared type as
//! the values can be read; what remains to be converted is a cast in the query above it. NULL in a column that was
//! declared NOT NULL fails the job, so that the planner may rely on the declaration.

use std::any::TypeId;
use std::sync::Arc;

use aquifer_functions::ResolvedExpr;
use aquifer_planner::analyser::Analyser;
use aquifer_runtime::{
    Batch, Boundedness, DataStream, NO_TIMESTAMP, OperatorContext, OutputPort, RuntimeError,
    StreamBatch, StreamData, StreamExecutionEnvironment, Transformation, TransformationId,
    TransformationKind,
};
use aquifer_table_common::operation::{
    DataStreamQuery, ProjectQuery, QueryOperation, WatermarkQuery,
};
use aquifer_table_common::schema::{UnresolvedColumn, UnresolvedColumnKind};
use aquifer_table_common::{
    Column, ColumnKind, ResolvedSchema, Result, Schema, SchemaErrorKind, ValidationErrorKind,
};
use aquifer_types::{
    ChangeBatch, ChangeBatchBuilder, ChangeBatchCodec, ChangelogMode, DataType, Field, LogicalType,
    Row, RowKind, Timestamp, Value, supports_implicit_cast,
};
use arrow_array::{Array, ArrayRef, Int64Array};

use crate::conversion::{ColumnWriter, RecordType, row_fields};

/// The metadata column that holds the records' timestamps.
const ROWTIME: &str = "rowtime";

/// How a stream is read.
pub(crate) struct StreamInput<'a> {
    /// Resolves declared schemas.
    pub(crate) analyser: Analyser<'a>,
    /// The declared columns, if there are any.
    pub(crate) schema: Option<Schema>,
    /// Which kinds of changes the rows may be.
    pub(crate) changelog_mode: ChangelogMode,
    /// Whether an update-after row counts as an insertion although the stream is insert-only.
    pub(crate) lenient_inserts: bool,
}

/// Where a column comes from, physically.
#[derive(Clone)]
struct SourceColumn {
    /// The index among the record's fields; `None` for the timestamp.
    field: Option<usize>,
    /// The column as the step gives it.
    column: Field,
}

impl StreamInput<'_> {
    /// Adds the step that converts the stream; answers the query that reads it.
    ///
    /// # Errors
    /// Types that are no columns, declared columns that the stream does not have or that do not fit.
    pub(crate) fn read<T: StreamData>(self, stream: &DataStream<T>) -> Result<QueryOperation> {
        let env = stream.environment();
        let is_row = TypeId::of::<T>() == TypeId::of::<Row>();
        let record = if is_row {
            None
        } else {
            Some(RecordType::of::<T>()?)
        };
        let fields = match &record {
            Some(record) => record.fields.clone(),
            None => self.fields_of_rows(env, stream.transformation())?,
        };
        let resolved = match &self.schema {
            Some(schema) => {
                let mut schema = schema.clone();
                derive_columns(&mut schema, &fields);
                self.analyser.resolve_schema(&schema)?
            }
            None => ResolvedSchema::physical(fields.clone()),
        };
        let columns = source_columns(&resolved, &fields, is_row)?;
        let raw: Vec<Field> = columns.iter().map(|c| c.column.clone()).collect();
        let types: Vec<DataType> = raw.iter().map(|field| field.data_type.clone()).collect();
        let codec = ChangeBatchCodec::new(types.clone());
        let edges = stream.edges(0);
        let checks = Checks::new(&columns);
        let step = match record {
            Some(record) => {
                let physical = physical_types(&record, &columns);
                Transformation::step(
                    "StreamToTable",
                    edges,
                    codec,
                    Arc::new(move |_: &OperatorContext| {
                        let mut writer = ColumnWriter::<T>::new(&record, &physical)?;
                        let columns = columns.clone();
                        let checks = checks.clone();
                        Ok(Box::new(move |batch: Batch| {
                            let batch = batch.into_data::<StreamBatch<T>>()?;
                            let written = writer.write(batch.values())?;
                            let mut out = Vec::with_capacity(columns.len());
                            for source in &columns {
                                out.push(match source.field {
                                    Some(field) => Arc::clone(&written[field]),
                                    None => timestamps(
                                        batch.timestamps(),
                                        batch.len(),
                                        &source.column.data_type,
                                    )?,
                                });
                            }
                            checks.check(&out)?;
                            Ok(ChangeBatch::new(out, None, batch.len())
                                .map_err(RuntimeError::internal)?
                                .into())
                        }))
                    }),
                )
            }
            None => {
                let rows = RowReader {
                    columns,
                    types,
                    names: fields.iter().map(|field| field.name.clone()).collect(),
                    mode: self.changelog_mode,
                    lenient_inserts: self.lenient_inserts,
                };
                Transformation::step(
                    "StreamToTable",
                    edges,
                    codec,
                    Arc::new(move |_: &OperatorContext| {
                        let rows = rows.clone();
                        let checks = checks.clone();
                        Ok(Box::new(move |batch: Batch| {
                            let batch = rows.read(&batch.into_data::<StreamBatch<Row>>()?)?;
                            checks.check(batch.columns())?;
                            Ok(batch.into())
                        }))
                    }),
                )
            }
        };
        let (name, uid) = env.inspect(stream.transformation(), |t| (t.name.clone(), t.uid.clone()));
        let port = OutputPort {
            transformation: env.add(step),
            port: 0,
        };
        let source = DataStreamQuery {
            name,
            uid,
            port,
            schema: ResolvedSchema {
                primary_key: resolved.primary_key.clone(),
                ..ResolvedSchema::physical(raw)
            },
            changelog_mode: self.changelog_mode,
            boundedness: boundedness(env, port.transformation),
        };
        declared_query(source, &resolved)
    }

    /// The columns of a stream of rows: from the values of the source, or else from the declaration.
    fn fields_of_rows(
        &self,
        env: &StreamExecutionEnvironment,
        id: TransformationId,
    ) -> Result<Vec<Field>> {
        let declared = self
            .schema
            .iter()
            .flat_map(|schema| &schema.columns)
            .filter_map(|column| match &column.kind {
                UnresolvedColumnKind::Physical(data_type) => Some(
                    data_type
                        .resolve()
                        .map(|data_type| Field::new(&column.name, data_type)),
                ),
                _ => None,
            });
        let declared = declared.collect::<Result<Vec<_>>>()?;
        if !declared.is_empty() {
            return Ok(declared);
        }
        let elements = env.inspect(id, |transformation| transformation.elements.clone());
        match elements.as_ref().and_then(|elements| elements.downcast_ref::<Vec<Row>>()) {
            Some(rows) => row_fields(rows),
            None => Err(SchemaErrorKind::InvalidSchema {
                reason: "a stream of rows does not tell its columns, unless it is read from elements; name the \
                         columns and types with from_data_stream_with_schema"
                    .to_string(),
            }
            .into()),
        }
    }
}

/// Puts the fields in front of the declared columns, if none of those is physical.
pub(crate) fn derive_columns(schema: &mut Schema, fields: &[Field]) {
    let is_physical = |c: &UnresolvedColumn| matches!(c.kind, UnresolvedColumnKind::Physical(_));
    if !schema.columns.iter().any(is_physical) {
        schema
            .columns
            .splice(0..0, Schema::from_fields(fields.iter().cloned()).columns);
    }
}

/// Where each physical and metadata column comes from.
fn source_columns(
    schema: &ResolvedSchema,
    fields: &[Field],
    is_row: bool,
) -> Result<Vec<SourceColumn>> {
    let mut sources = Vec::new();
    for column in &schema.columns {
        let declared = Field::new(&column.name, column.data_type.clone());
        match &column.kind {
            ColumnKind::Computed(_) => {}
            ColumnKind::Metadata { key, .. } => sources.push(timestamp_column(key, declared)?),
            ColumnKind::Physical => {
                let Some(index) = fields.iter().position(|field| field.name == column.name) else {
                    return Err(ValidationErrorKind::UnknownColumn {
                        column: column.name.clone(),
                        tables: vec!["the data stream".to_string()],
                        candidates: fields.iter().map(|field| field.name.clone()).collect(),
                    }
                    .into());
                };
                let column = if is_row {
                    declared
                } else {
                    nearest(&fields[index], &declared)?
                };
                sources.push(SourceColumn {
                    field: Some(index),
                    column,
                });
            }
        }
    }
    Ok(sources)
}

fn timestamp_column(key: &str, declared: Field) -> Result<SourceColumn> {
    if key != ROWTIME {
        let reason = format!(
            "a data stream offers no metadata '{key}' for column '{}'; it offers '{ROWTIME}'",
            declared.name
        );
        return Err(SchemaErrorKind::InvalidSchema { reason }.into());
    }
    match declared.data_type.logical {
        LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => Ok(SourceColumn {
            field: None,
            column: declared,
        }),
        _ => Err(SchemaErrorKind::TypeMismatch {
            what: format!("metadata column '{}'", declared.name),
            expected: "TIMESTAMP_LTZ(3)".to_string(),
            found: declared.data_type.to_string(),
        }
        .into()),
    }
}

/// The physical column nearest to the declaration that the field's values can be read as.
fn nearest(field: &Field, declared: &Field) -> Result<Field> {
    let (from, to) = (&field.data_type, &declared.data_type);
    if from.to_arrow() == to.to_arrow() || reads_text(&from.logical, &to.logical) {
        return Ok(declared.clone());
    }
    if supports_implicit_cast(&from.clone().not_null(), to) {
        return Ok(Field::new(&field.name, from.clone()));
    }
    Err(SchemaErrorKind::TypeMismatch {
        what: format!("field '{}' of the data stream", field.name),
        expected: to.to_string(),
        found: from.to_string(),
    }
    .into())
}

/// Whether values that serde gives as text can be read as the declared type.
fn reads_text(from: &LogicalType, to: &LogicalType) -> bool {
    if from.is_string() {
        to.is_datetime() || to.is_decimal()
    } else {
        is_same_time(from, to)
    }
}

/// Whether both are dates, times, timestamps or instants, of whatever precision.
pub(crate) fn is_same_time(a: &LogicalType, b: &LogicalType) -> bool {
    a.is_datetime() && std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// The types in which the record's columns are written; those that are not read keep their own.
fn physical_types(record: &RecordType, columns: &[SourceColumn]) -> Vec<DataType> {
    let mut types = record.types();
    for source in columns {
        if let Some(field) = source.field {
            types[field].clone_from(&source.column.data_type);
        }
    }
    types
}

/// The declared columns over what the step gives: casts, computed columns, watermarks.
fn declared_query(source: DataStreamQuery, schema: &ResolvedSchema) -> Result<QueryOperation> {
    let raw = source.schema.fields();
    let mut query = QueryOperation::DataStream(source);
    let declared = schema.source_fields();
    let needs_cast = raw
        .iter()
        .zip(&declared)
        .any(|(raw, declared)| raw.data_type != declared.data_type);
    if needs_cast || schema.columns.iter().any(Column::is_computed) {
        let mut next = raw.iter().enumerate();
        let mut expressions = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            expressions.push(match &column.kind {
                ColumnKind::Computed(expression) => expression.clone(),
                _ => {
                    let (index, field) = next
                        .next()
                        .expect("the step gives each of the other columns");
                    let value = ResolvedExpr::input(index, field.data_type.clone());
                    if field.data_type == column.data_type {
                        value
                    } else {
                        value.cast(column.data_type.clone())?
                    }
                }
            });
        }
        if needs_cast && schema.columns.iter().any(Column::is_computed) {
            // Computed columns see the declared types, so the casts come first.
            query = cast_columns(query, &declared)?;
            let mut next = declared.iter().enumerate();
            for (expression, column) in expressions.iter_mut().zip(&schema.columns) {
                if !column.is_computed() {
                    let (index, field) = next.next().expect("as many as before");
                    *expression = ResolvedExpr::input(index, field.data_type.clone());
                }
            }
        }
        query = QueryOperation::Project(ProjectQuery {
            expressions,
            fields: schema.fields(),
            input: Arc::new(query),
        });
    }
    for watermark in &schema.watermarks {
        query = QueryOperation::Watermark(WatermarkQuery {
            column: watermark.column,
            expression: watermark.expression.clone(),
            input: Arc::new(query),
        });
    }
    Ok(query)
}

/// The query's columns with other types.
pub(crate) fn cast_columns(query: QueryOperation, to: &[Field]) -> Result<QueryOperation> {
    let from = query.fields();
    let mut expressions = Vec::with_capacity(to.len());
    for (index, (from, to)) in from.iter().zip(to).enumerate() {
        let value = ResolvedExpr::input(index, from.data_type.clone());
        expressions.push(if from.data_type == to.data_type {
            value
        } else {
            value.cast(to.data_type.clone())?
        });
    }
    Ok(QueryOperation::Project(ProjectQuery {
        expressions,
        fields: to.to_vec(),
        input: Arc::new(query),
    }))
}

/// Whether all sources behind a transformation end by themselves.
fn boundedness(env: &StreamExecutionEnvironment, id: TransformationId) -> Boundedness {
    let (own, inputs) = env.inspect(id, |transformation| {
        let own = match &transformation.kind {
            TransformationKind::Source { boundedness, .. } => *boundedness,
            _ => Boundedness::Bounded,
        };
        (
            own,
            transformation
                .edges
                .iter()
                .map(|edge| edge.from.transformation)
                .collect::<Vec<_>>(),
        )
    });
    let unbounded = own == Boundedness::Unbounded
        || inputs
            .into_iter()
            .any(|input| boundedness(env, input) == Boundedness::Unbounded);
    if unbounded {
        Boundedness::Unbounded
    } else {
        Boundedness::Bounded
    }
}

/// The columns that were declared NOT NULL.
#[derive(Clone)]
struct Checks {
    not_null: Vec<(usize, String)>,
}

impl Checks {
    fn new(columns: &[SourceColumn]) -> Self {
        let not_null = columns
            .iter()
            .enumerate()
            .filter(|(_, source)| !source.column.data_type.nullable);
        Checks {
            not_null: not_null
                .map(|(index, source)| (index, source.column.name.clone()))
                .collect(),
        }
    }

    fn check(&self, columns: &[ArrayRef]) -> aquifer_runtime::Result<()> {
        match self
            .not_null
            .iter()
            .find(|(index, _)| columns[*index].null_count() > 0)
        {
            Some((_, name)) => Err(RuntimeError::user(format!(
                "column '{name}' of a data stream is NULL, but was declared NOT NULL"
            ))),
            None => Ok(()),
        }
    }
}

const NO_ROWTIME: &str = "a record has no timestamp, but the table asks for its 'rowtime'; assign timestamps with \
                          assign_timestamps_and_watermarks before the stream becomes a table";

/// The records' timestamps as a column.
fn timestamps(
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
struct RowReader {
    columns: Vec<SourceColumn>,
    types: Vec<DataType>,
    /// The names of the fields by position.
    names: Vec<String>,
    mode: ChangelogMode,
    lenient_inserts: bool,
}

impl RowReader {
    fn read(&self, batch: &StreamBatch<Row>) -> aquifer_runtime::Result<ChangeBatch> {
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

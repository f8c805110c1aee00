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
    Batch, Boundedness, DataStream, Exchange, OperatorContext, OutputPort, RuntimeError,
    StreamBatch, StreamData, StreamExecutionEnvironment, Transformation, TransformationId,
    TransformationKind,
};
use aquifer_table_common::operation::{
    DataStreamQuery, ProjectQuery, QueryOperation, WatermarkQuery,
};
use aquifer_table_common::schema::UnresolvedColumnKind;
use aquifer_table_common::{Column, ColumnKind, ResolvedSchema, Result, Schema, SchemaErrorKind};
use aquifer_types::{ChangeBatch, ChangeBatchCodec, ChangelogMode, DataType, Field, Row};

use super::columns::{Checks, derive_columns, physical_types, source_columns};
use super::rows::{RowReader, timestamps};
use crate::conversion::{ColumnWriter, RecordType, row_fields};

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
        let (name, uid, parallelism) = env.inspect(stream.transformation(), |t| {
            (t.name.clone(), t.uid.clone(), t.parallelism)
        });
        let mut step = step;
        if let [edge] = step.edges.as_slice()
            && matches!(edge.exchange, Exchange::Forward)
        {
            // Rows are converted where they are, so that they keep their order and with it what is late.
            step.parallelism = parallelism;
        }
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
fn cast_columns(query: QueryOperation, to: &[Field]) -> Result<QueryOperation> {
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

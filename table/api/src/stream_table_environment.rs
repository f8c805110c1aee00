//! Streams and tables in one program.

use std::ops::Deref;

use aquifer_functions::ResolvedExpr;
use aquifer_runtime::{DataStream, StreamData, StreamExecutionEnvironment};
use aquifer_table_common::connector::FactoryRegistry;
use aquifer_table_common::operation::{ModifyOperation, OutputMode, ProjectQuery, QueryOperation};
use aquifer_table_common::{
    ColumnKind, Result, Schema, SchemaErrorKind, UnsupportedError, ValidationErrorKind,
};
use aquifer_types::{ChangelogMode, Field, Row};

use crate::bridge::input::StreamInput;
use crate::bridge::output::{self, Changes};
use crate::bridge::target::{Matching, Target, columns_of};
use crate::field_list::FieldList;
use crate::options::STRICT_INSERT_ONLY;
use crate::settings::EnvironmentSettings;
use crate::statement_set::StreamStatementSet;
use crate::table::Table;
use crate::table_environment::TableEnvironment;

/// A [`TableEnvironment`] over a stream environment: streams become tables, tables become streams, and all run in
/// the same jobs.
///
/// Cheap to clone; clones are the same environment.
#[derive(Clone)]
pub struct StreamTableEnvironment {
    tables: TableEnvironment,
}

impl Deref for StreamTableEnvironment {
    type Target = TableEnvironment;

    fn deref(&self) -> &TableEnvironment {
        &self.tables
    }
}

impl StreamTableEnvironment {
    /// An environment without connectors that shares the options of `env`.
    ///
    /// # Errors
    /// `validation.invalid_option`.
    pub fn create(env: &StreamExecutionEnvironment) -> Result<Self> {
        Self::create_with(env, EnvironmentSettings::default())
    }

    /// As [`create`](Self::create), with settings.
    ///
    /// # Errors
    /// See there.
    pub fn create_with(
        env: &StreamExecutionEnvironment,
        settings: impl Into<EnvironmentSettings>,
    ) -> Result<Self> {
        Self::create_with_factories(env, settings, FactoryRegistry::new())
    }

    /// An environment with these connectors and formats.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with_factories(
        env: &StreamExecutionEnvironment,
        settings: impl Into<EnvironmentSettings>,
        factories: FactoryRegistry,
    ) -> Result<Self> {
        Ok(StreamTableEnvironment {
            tables: TableEnvironment::over(env, &settings.into(), factories)?,
        })
    }

    /// The stream environment.
    pub fn stream_environment(&self) -> &StreamExecutionEnvironment {
        &self.tables.inner.environment
    }

    /// The stream as an insert-only table. Columns are the fields of a struct, `f0, f1, ..` for tuples and rows,
    /// `f0` for single values; the crate's documentation lists the types. Rows of kind `+U` count as insertions,
    /// unless `table.exec.source.strict-insert-only` is set; `-U` and `-D` fail the job.
    ///
    /// # Errors
    /// `schema.invalid_type` for types that are no columns; `schema.invalid_schema` for a stream of rows whose
    /// columns are not known.
    #[doc(alias = "fromDataStream")]
    pub fn from_data_stream<T: StreamData>(&self, stream: &DataStream<T>) -> Result<Table> {
        self.read(stream, None, ChangelogMode::insert_only())
    }

    /// As [`from_data_stream`](Self::from_data_stream) with declared columns: some of the stream's by name, in any
    /// order and with types they fit, computed ones, the records' timestamps as metadata column `rowtime`, a
    /// watermark, a key. Without physical columns, all of the stream's come first.
    ///
    /// # Errors
    /// `validation.unknown_column`, `schema.type_mismatch`, `schema.invalid_schema`; see also there.
    pub fn from_data_stream_with_schema<T: StreamData>(
        &self,
        stream: &DataStream<T>,
        schema: Schema,
    ) -> Result<Table> {
        self.read(stream, Some(schema), ChangelogMode::insert_only())
    }

    /// Old: the stream's columns renamed by position, or picked by name if all names are the stream's.
    ///
    /// # Errors
    /// `schema.column_count` for more names than columns; `validation.duplicate_name`.
    pub fn from_data_stream_as<T: StreamData>(
        &self,
        stream: &DataStream<T>,
        fields: impl FieldList,
    ) -> Result<Table> {
        let table = self.from_data_stream(stream)?;
        let query = table.query_operation();
        let columns = query.fields();
        let names = fields.into_names();
        if let Some(name) = names
            .iter()
            .enumerate()
            .find(|(i, name)| names[..*i].contains(name))
        {
            return Err(ValidationErrorKind::DuplicateName {
                what: "column",
                name: name.1.clone(),
            }
            .into());
        }
        if names.len() > columns.len() || names.is_empty() {
            return Err(SchemaErrorKind::ColumnCount {
                what: "the list of column names".to_string(),
                expected: columns.len(),
                found: names.len(),
            }
            .into());
        }
        let position = |name: &String| columns.iter().position(|column| column.name == *name);
        let picked: Option<Vec<usize>> = names.iter().map(position).collect();
        let picked = picked.unwrap_or_else(|| (0..names.len()).collect());
        let expression =
            |index: &usize| ResolvedExpr::input(*index, columns[*index].data_type.clone());
        let field =
            |(name, index): (String, &usize)| Field::new(name, columns[*index].data_type.clone());
        let project = ProjectQuery {
            expressions: picked.iter().map(expression).collect(),
            fields: names.into_iter().zip(&picked).map(field).collect(),
            input: query.clone(),
        };
        Ok(self.table(QueryOperation::Project(project).into()))
    }

    /// A stream of rows as a table, where the kinds of the rows are its changes.
    ///
    /// # Errors
    /// `schema.invalid_schema` if the rows' columns are not known.
    #[doc(alias = "fromChangelogStream")]
    pub fn from_changelog_stream(&self, stream: &DataStream<Row>) -> Result<Table> {
        self.read(stream, None, ChangelogMode::all())
    }

    /// As [`from_changelog_stream`](Self::from_changelog_stream) with declared columns.
    ///
    /// # Errors
    /// As [`from_data_stream_with_schema`](Self::from_data_stream_with_schema).
    pub fn from_changelog_stream_with_schema(
        &self,
        stream: &DataStream<Row>,
        schema: Schema,
    ) -> Result<Table> {
        self.read(stream, Some(schema), ChangelogMode::all())
    }

    /// As [`from_changelog_stream_with_schema`](Self::from_changelog_stream_with_schema) with the kinds that occur;
    /// a row of another kind fails the job. Upserts need a primary key in the schema.
    ///
    /// # Errors
    /// See there; `schema.invalid_schema` for upserts without a key.
    pub fn from_changelog_stream_with_mode(
        &self,
        stream: &DataStream<Row>,
        schema: Schema,
        mode: ChangelogMode,
    ) -> Result<Table> {
        if mode.is_upsert() && schema.primary_key.is_none() {
            let reason = "a stream of upserts needs a primary key".to_string();
            return Err(SchemaErrorKind::InvalidSchema { reason }.into());
        }
        self.read(stream, Some(schema), mode)
    }

    /// Names a stream as a table.
    ///
    /// # Errors
    /// As [`from_data_stream`](Self::from_data_stream); `catalog.object_exists`.
    pub fn create_temporary_view_from_stream<T: StreamData>(
        &self,
        path: impl AsRef<str>,
        stream: &DataStream<T>,
    ) -> Result<()> {
        self.create_temporary_view(path, &self.from_data_stream(stream)?)
    }

    /// Names a stream as a table with declared columns.
    ///
    /// # Errors
    /// As [`from_data_stream_with_schema`](Self::from_data_stream_with_schema); `catalog.object_exists`.
    pub fn create_temporary_view_from_stream_with_schema<T: StreamData>(
        &self,
        path: impl AsRef<str>,
        stream: &DataStream<T>,
        schema: Schema,
    ) -> Result<()> {
        self.create_temporary_view(path, &self.from_data_stream_with_schema(stream, schema)?)
    }

    /// Old: [`create_temporary_view_from_stream`](Self::create_temporary_view_from_stream).
    ///
    /// # Errors
    /// See there.
    #[doc(alias = "registerDataStream")]
    pub fn register_data_stream<T: StreamData>(
        &self,
        name: impl AsRef<str>,
        stream: &DataStream<T>,
    ) -> Result<()> {
        self.create_temporary_view_from_stream(name, stream)
    }

    /// Old: names a stream as a table, with names for its columns as in
    /// [`from_data_stream_as`](Self::from_data_stream_as).
    ///
    /// # Errors
    /// See there; `catalog.object_exists`.
    pub fn register_data_stream_as<T: StreamData>(
        &self,
        name: impl AsRef<str>,
        stream: &DataStream<T>,
        fields: impl FieldList,
    ) -> Result<()> {
        self.create_temporary_view(name, &self.from_data_stream_as(stream, fields)?)
    }

    /// The rows of a table that is only appended to. The event time of the table becomes the records' timestamp.
    ///
    /// # Errors
    /// `validation.updates_not_accepted` with the reason if the table can be updated.
    #[doc(alias = "toDataStream")]
    pub fn to_data_stream(&self, table: &Table) -> Result<DataStream<Row>> {
        self.appended(table, Matching::ByName)
    }

    /// As [`to_data_stream`](Self::to_data_stream), as values whose fields find their columns by name (those of
    /// tuples by position), with implicit casts. NULL for a field that is no Option fails the job.
    ///
    /// # Errors
    /// See there; `validation.unknown_column`, `schema.type_mismatch`, `schema.column_count`.
    pub fn to_data_stream_of<T: StreamData>(&self, table: &Table) -> Result<DataStream<T>> {
        self.appended(table, Matching::ByName)
    }

    /// Old: as [`to_data_stream_of`](Self::to_data_stream_of), with columns by position.
    ///
    /// # Errors
    /// See there.
    #[doc(alias = "toAppendStream")]
    pub fn to_append_stream<T: StreamData>(&self, table: &Table) -> Result<DataStream<T>> {
        self.appended(table, Matching::ByPosition)
    }

    /// The changes of a table: `true` adds a value, `false` takes one back. Columns go by position. The net changes
    /// of an epoch, those that take back first.
    ///
    /// # Errors
    /// `schema.type_mismatch`, `schema.column_count`.
    #[doc(alias = "toRetractStream")]
    pub fn to_retract_stream<T: StreamData>(&self, table: &Table) -> Result<DataStream<(bool, T)>> {
        let (target, query) = Target::matched::<T>(table.query_operation(), Matching::ByPosition)?;
        let operation = ModifyOperation::OutputConversion {
            child: query,
            mode: OutputMode::Retract,
        };
        Ok(self
            .changes(operation)?
            .retracted(self.stream_environment(), target))
    }

    /// The changes of a table as rows with kinds: the net changes of an epoch, where a removed and an added row of
    /// one key are an update.
    ///
    /// # Errors
    /// What planning finds.
    #[doc(alias = "toChangelogStream")]
    pub fn to_changelog_stream(&self, table: &Table) -> Result<DataStream<Row>> {
        let mode = OutputMode::Changelog(ChangelogMode::all());
        let operation = ModifyOperation::OutputConversion {
            child: table.query_operation().clone(),
            mode,
        };
        Ok(self.changes(operation)?.rows(self.stream_environment()))
    }

    /// As [`to_changelog_stream`](Self::to_changelog_stream), with the columns of a schema: by name, in its order, cast
    /// where that loses nothing.
    ///
    /// # Errors
    /// `validation.unknown_column`, `schema.type_mismatch`; `unsupported.feature` for columns that are not physical.
    pub fn to_changelog_stream_with_schema(
        &self,
        table: &Table,
        schema: Schema,
    ) -> Result<DataStream<Row>> {
        self.to_changelog_stream_with_mode(table, schema, ChangelogMode::all())
    }

    /// As [`to_changelog_stream_with_schema`](Self::to_changelog_stream_with_schema), with some kinds of rows alone.
    /// A stream of upserts has no `-U`; its schema needs a primary key.
    ///
    /// # Errors
    /// See there; `schema.invalid_schema` for upserts without a key; `validation.updates_not_accepted` for a mode
    /// without updates if the table can be updated.
    pub fn to_changelog_stream_with_mode(
        &self,
        table: &Table,
        schema: Schema,
        mode: ChangelogMode,
    ) -> Result<DataStream<Row>> {
        let resolved = self.with_analyser(|analyser| analyser.resolve_schema(&schema))?;
        if let Some(column) = resolved
            .columns
            .iter()
            .find(|c| c.kind != ColumnKind::Physical)
        {
            let feature = format!(
                "column '{}' that is not physical in the schema of a stream",
                column.name
            );
            return Err(UnsupportedError::new(feature).into());
        }
        if mode.is_upsert() && resolved.primary_key.is_none() {
            let reason = "a stream of upserts needs a primary key".to_string();
            return Err(SchemaErrorKind::InvalidSchema { reason }.into());
        }
        let key = resolved
            .primary_key
            .is_some()
            .then(|| resolved.primary_key_indices());
        let query = columns_of(table.query_operation(), &resolved.fields())?;
        let mode = OutputMode::Changelog(mode);
        let changes = self.changes(ModifyOperation::OutputConversion { child: query, mode })?;
        Ok(changes.keyed(key).rows(self.stream_environment()))
    }

    /// An empty set of statements that can become part of the stream environment's next job.
    #[doc(alias = "createStatementSet")]
    pub fn create_statement_set(&self) -> StreamStatementSet {
        StreamStatementSet::new(self.tables.clone())
    }

    fn read<T: StreamData>(
        &self,
        stream: &DataStream<T>,
        schema: Option<Schema>,
        changelog_mode: ChangelogMode,
    ) -> Result<Table> {
        let strict = self.config().get(&STRICT_INSERT_ONLY)?;
        let lenient_inserts = changelog_mode.is_insert_only() && !strict;
        let query = self.with_analyser(|analyser| {
            StreamInput {
                analyser,
                schema,
                changelog_mode,
                lenient_inserts,
            }
            .read(stream)
        })?;
        Ok(self.table(query.into()))
    }

    fn appended<T: StreamData>(&self, table: &Table, matching: Matching) -> Result<DataStream<T>> {
        let (target, query) = Target::matched::<T>(table.query_operation(), matching)?;
        let rowtime = output::rowtime(&query);
        let mode = OutputMode::Append;
        let changes = self.changes(ModifyOperation::OutputConversion { child: query, mode })?;
        Ok(changes.appended(self.stream_environment(), target, rowtime))
    }

    fn changes(&self, operation: ModifyOperation) -> Result<Changes> {
        Changes::of(
            self.translate(std::slice::from_ref(&operation))?
                .into_iter()
                .next(),
        )
    }
}

//! What executing a statement answers.

use std::io::Write;
use std::sync::Arc;

use aquifer_runtime::{JobClient, StreamIterator};
use aquifer_table_common::{IoError, ResolvedSchema, Result, TableError, ValidationErrorKind};
use aquifer_types::{DataTypes, Field, Row, Value};
use parking_lot::Mutex;

use crate::tableau::{self, Widths};

/// What kind of statement was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// It changed something and has nothing to tell.
    Success,
    /// It answers rows.
    SuccessWithContent,
}

/// The answer of an executed statement: rows, and the job that makes them.
///
/// Cheap to clone; clones are the same result.
#[derive(Clone)]
pub struct TableResult {
    inner: Arc<Inner>,
}

struct Inner {
    kind: ResultKind,
    schema: ResolvedSchema,
    style: Style,
    client: Option<JobClient>,
    content: Mutex<Content>,
}

enum Content {
    /// Rows that are there; they can be read again and again.
    Rows(Vec<Row>),
    /// Rows that a job makes, and those that were read ahead.
    Stream(Box<StreamIterator<Row>>, Option<Result<Row>>),
    /// The rows of a job were handed over.
    Taken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Columns as wide as their types may need, and the kinds of the rows.
    Changelog,
    /// Columns as wide as their values.
    Table,
    /// The values alone.
    Raw,
}

impl TableResult {
    fn of(
        kind: ResultKind,
        fields: Vec<Field>,
        style: Style,
        client: Option<JobClient>,
        content: Content,
    ) -> Self {
        let schema = ResolvedSchema::physical(fields);
        TableResult {
            inner: Arc::new(Inner {
                kind,
                schema,
                style,
                client,
                content: Mutex::new(content),
            }),
        }
    }

    /// A statement that has nothing to tell.
    pub(crate) fn ok() -> Self {
        let rows = vec![Row::of(vec![Value::from("OK")])];
        let fields = vec![Field::new("result", DataTypes::string())];
        TableResult::of(
            ResultKind::Success,
            fields,
            Style::Raw,
            None,
            Content::Rows(rows),
        )
    }

    /// Rows that are there.
    pub(crate) fn of_rows(fields: Vec<Field>, rows: Vec<Row>) -> Self {
        TableResult::of(
            ResultKind::SuccessWithContent,
            fields,
            Style::Table,
            None,
            Content::Rows(rows),
        )
    }

    /// One column of texts.
    pub(crate) fn of_names(column: &str, names: impl IntoIterator<Item = String>) -> Self {
        let rows = names
            .into_iter()
            .map(|name| Row::of(vec![Value::from(name)]))
            .collect();
        TableResult::of_rows(
            vec![Field::new(column, DataTypes::string().not_null())],
            rows,
        )
    }

    /// A text that stands for itself, such as a plan.
    pub(crate) fn of_text(text: String) -> Self {
        let rows = vec![Row::of(vec![Value::from(text)])];
        let fields = vec![Field::new("result", DataTypes::string())];
        TableResult::of(
            ResultKind::SuccessWithContent,
            fields,
            Style::Raw,
            None,
            Content::Rows(rows),
        )
    }

    /// The rows of a query, as its job makes them.
    pub(crate) fn of_query(fields: Vec<Field>, rows: StreamIterator<Row>) -> Self {
        let client = Some(rows.job_client().clone());
        let content = Content::Stream(Box::new(rows), None);
        TableResult::of(
            ResultKind::SuccessWithContent,
            fields,
            Style::Changelog,
            client,
            content,
        )
    }

    /// The job of inserts into these tables. The number of rows is not known, which is -1.
    pub(crate) fn of_inserts(tables: Vec<String>, client: JobClient) -> Self {
        let row = Row::of(vec![Value::BigInt(-1); tables.len()]);
        let fields = tables
            .into_iter()
            .map(|table| Field::new(table, DataTypes::bigint().not_null()))
            .collect();
        TableResult::of(
            ResultKind::SuccessWithContent,
            fields,
            Style::Table,
            Some(client),
            Content::Rows(vec![row]),
        )
    }

    /// What kind of statement it was.
    #[doc(alias = "getResultKind")]
    pub fn kind(&self) -> ResultKind {
        self.inner.kind
    }

    /// The columns of the rows.
    #[doc(alias = "getResolvedSchema")]
    pub fn schema(&self) -> &ResolvedSchema {
        &self.inner.schema
    }

    /// The job, if the statement started one.
    #[doc(alias = "getJobClient")]
    pub fn job_client(&self) -> Option<&JobClient> {
        self.inner.client.as_ref()
    }

    /// Waits: for the end of the job of an INSERT, for the first row of a query.
    ///
    /// # Errors
    /// `job.*` when the job fails.
    #[doc(alias = "await")]
    pub fn await_done(&self) -> Result<()> {
        let mut content = self.inner.content.lock();
        match (&mut *content, &self.inner.client) {
            (Content::Stream(rows, ahead), _) => {
                if ahead.is_none() {
                    *ahead = rows.next().map(|row| row.map_err(TableError::from));
                }
                match ahead {
                    Some(Err(error)) => Err(error.clone()),
                    _ => Ok(()),
                }
            }
            (Content::Rows(_), Some(client)) => {
                client.await_result()?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Waits as [`await_done`](Self::await_done) for the job of an INSERT, but not longer than `timeout`.
    ///
    /// # Errors
    /// `job.*` when the job fails or does not end in time.
    pub fn await_timeout(&self, timeout: std::time::Duration) -> Result<()> {
        if let Some(client) = &self.inner.client {
            client.await_result_for(timeout)?;
        }
        Ok(())
    }

    /// The rows. Those of a query come as its job makes them, end with it, and can be taken once; dropping the
    /// iterator before its end cancels the job. They arrive in process 0.
    ///
    /// # Errors
    /// `validation.invalid_clause` if the rows were taken before.
    pub fn collect(&self) -> Result<RowIterator> {
        let mut content = self.inner.content.lock();
        if let Content::Rows(rows) = &*content {
            return Ok(RowIterator(Source::Rows(rows.clone().into_iter())));
        }
        match std::mem::replace(&mut *content, Content::Taken) {
            Content::Stream(rows, ahead) => Ok(RowIterator(Source::Stream(rows, ahead))),
            _ => Err(ValidationErrorKind::InvalidClause {
                message: "the rows of this result were taken before".to_string(),
                hint: Some("Execute the query again.".to_string()),
            }
            .into()),
        }
    }

    /// Prints the rows to the standard output as they come, in the reference's form; those of a query with their
    /// kinds in the column `op`.
    ///
    /// # Errors
    /// As [`collect`](Self::collect), and how the job failed.
    pub fn print(&self) -> Result<()> {
        self.print_to(&mut std::io::stdout().lock())
    }

    /// As [`print`](Self::print), to a writer.
    ///
    /// # Errors
    /// See there; `io.*` when the writer fails.
    pub fn print_to(&self, out: &mut dyn Write) -> Result<()> {
        let fields = self.inner.schema.fields();
        let failed = |error| TableError::from(IoError::new("print to", "the output", error));
        match self.inner.style {
            Style::Raw => {
                for row in self.collect()? {
                    for value in row?.fields() {
                        writeln!(out, "{value}").map_err(failed)?;
                    }
                }
                out.flush().map_err(failed)
            }
            Style::Table => tableau::print(&fields, self.collect()?, Widths::OfValues, false, out),
            Style::Changelog => {
                tableau::print(&fields, self.collect()?, Widths::OfTypes, true, out)
            }
        }
    }
}

/// The rows of a [`TableResult`].
pub struct RowIterator(Source);

enum Source {
    Rows(std::vec::IntoIter<Row>),
    Stream(Box<StreamIterator<Row>>, Option<Result<Row>>),
}

impl Iterator for RowIterator {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        match &mut self.0 {
            Source::Rows(rows) => rows.next().map(Ok),
            Source::Stream(rows, ahead) => ahead
                .take()
                .or_else(|| rows.next().map(|row| row.map_err(TableError::from))),
        }
    }
}

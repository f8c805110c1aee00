//! `print`: writes each change as a line, `+I[1, a]`, to the standard output or error.
//!
//! A line starts with the identifier and, if several workers write, the worker from 1:
//! `identifier:2> +I[1, a]`. The rows of an epoch are written together when it ends, each worker
//! those it has.

use std::io::{self, Write};
use std::sync::Arc;

use aquifer_operators::ChangesToRows;
use aquifer_runtime::error::{ConnectorFailure, SinkError};
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output};
use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, FactoryContext, SinkContext, SinkProvider,
};
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, OptionList};
use aquifer_types::{ChangeBatch, ChangelogMode};

const PRINT_IDENTIFIER: ConfigOption<String> =
    ConfigOption::new("print-identifier", "", "What every line starts with.");
const SINK_PARALLELISM: ConfigOption<Option<std::num::NonZeroUsize>> =
    ConfigOption::without_default("sink.parallelism", "How many workers write; all if unset.");
const STANDARD_ERROR: ConfigOption<bool> = ConfigOption::new(
    "standard-error",
    "false",
    "Writes to the standard error instead of the standard output.",
);

static OPTIONS: [&dyn AnyConfigOption; 3] = [&PRINT_IDENTIFIER, &SINK_PARALLELISM, &STANDARD_ERROR];

/// The connector `print`.
pub struct PrintFactory;

impl DynamicTableFactory for PrintFactory {
    fn identifier(&self) -> &'static str {
        "print"
    }

    fn description(&self) -> &'static str {
        "Writes each change as a line to the standard output."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        let options = context.options;
        Ok(Arc::new(PrintSink {
            identifier: options.get(&PRINT_IDENTIFIER)?,
            parallelism: options.get(&SINK_PARALLELISM)?.map(Into::into),
            target: if options.get(&STANDARD_ERROR)? {
                Target::Error
            } else {
                Target::Output
            },
        }))
    }
}

#[derive(Clone, Copy)]
enum Target {
    Output,
    Error,
}

struct PrintSink {
    identifier: String,
    parallelism: Option<usize>,
    target: Target,
}

impl DynamicTableSink for PrintSink {
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode {
        *requested
    }

    fn summary(&self) -> String {
        "Print".to_string()
    }

    fn create(&self, context: &SinkContext) -> Result<SinkProvider> {
        let (identifier, target, context) = (self.identifier.clone(), self.target, context.clone());
        let mut provider = SinkProvider::new(Arc::new(move || {
            Box::new(PrintOperator {
                prefix: identifier.clone(),
                table: context.table.clone(),
                changes: changes_to_rows(&context),
                out: match target {
                    Target::Output => Box::new(io::stdout()),
                    Target::Error => Box::new(io::stderr()),
                },
            })
        }));
        provider.parallelism = self.parallelism;
        Ok(provider)
    }
}

/// Turns a sink's changes into rows.
pub(crate) fn changes_to_rows(context: &SinkContext) -> ChangesToRows {
    let types = context.fields.iter().map(|field| field.data_type.clone());
    let key = (!context.key.is_empty()).then(|| context.key.clone());
    ChangesToRows::new(types.collect(), key, context.changelog_mode)
}

struct PrintOperator {
    prefix: String,
    table: String,
    changes: ChangesToRows,
    out: Box<dyn Write>,
}

impl PrintOperator {
    fn write(&mut self) -> aquifer_runtime::Result<()> {
        let rows = self.changes.finish()?;
        let mut text = String::new();
        for row in rows {
            text.push_str(&self.prefix);
            text.push_str(&row.to_string());
            text.push('\n');
        }
        let written = self.out.write_all(text.as_bytes());
        written.and_then(|()| self.out.flush()).map_err(|error| {
            let failure = ConnectorFailure::external(&self.table, "the output cannot be written");
            SinkError::Write(failure.with_cause(error).into()).into()
        })
    }
}

impl EpochOperator for PrintOperator {
    fn open(&mut self, context: &OperatorContext) -> aquifer_runtime::Result<()> {
        if context.parallelism > 1 {
            let separator = if self.prefix.is_empty() { "" } else { ":" };
            self.prefix = format!("{}{separator}{}", self.prefix, context.worker + 1);
        }
        if !self.prefix.is_empty() {
            self.prefix.push_str("> ");
        }
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        self.changes.push(batch.into_data::<ChangeBatch>()?);
        Ok(())
    }

    fn end_epoch(&mut self, _output: &mut Output) -> aquifer_runtime::Result<EpochEnd> {
        if !self.changes.is_empty() {
            self.write()?;
        }
        Ok(EpochEnd::Done)
    }
}

#[cfg(test)]
mod tests {
    use aquifer_runtime::testing::Harness;
    use aquifer_types::{DataTypes, Field, Row, RowKind, row_values};
    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn check(identifier: &str, workers: usize, expected: &str) {
        let context = SinkContext {
            table: "t".to_string(),
            fields: vec![
                Field::new("id", DataTypes::int()),
                Field::new("name", DataTypes::string()),
            ],
            key: vec![0],
            changelog_mode: ChangelogMode::all(),
        };
        let written = Written::default();
        let operator = PrintOperator {
            prefix: identifier.to_string(),
            table: "t".to_string(),
            changes: changes_to_rows(&context),
            out: Box::new(written.clone()),
        };
        let mut harness = Harness::on_worker(operator, 1, workers - 1, workers).unwrap();
        let types = [DataTypes::int(), DataTypes::string()];
        let rows = [
            Row::of(row_values![1, "new"]),
            Row::of_kind(RowKind::Delete, row_values![1, None::<String>]),
        ];
        let batch = ChangeBatch::from_rows(&rows, &types).unwrap();
        harness.process(0, batch).unwrap();
        harness.end_epoch().unwrap();
        harness.end_epoch().unwrap();
        assert_eq!(
            String::from_utf8(written.0.lock().clone()).unwrap(),
            expected
        );
    }

    #[test]
    fn lines_name_identifier_and_worker() {
        check("", 1, "-U[1, null]\n+U[1, new]\n");
        check("x", 1, "x> -U[1, null]\nx> +U[1, new]\n");
        check("", 2, "2> -U[1, null]\n2> +U[1, new]\n");
        check("x", 2, "x:2> -U[1, null]\nx:2> +U[1, new]\n");
    }
}

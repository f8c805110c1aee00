//! Makes the two sides of the connector.

use std::sync::Arc;
use std::time::Duration;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext,
};
use aquifer_table_common::error::{UnsupportedError, ValidationErrorKind};
use aquifer_table_common::options::OptionList;
use aquifer_table_common::schema::ColumnKind;
use regex::Regex;

use super::listing::Place;
use super::options::{
    FILE_SIZE, MONITOR_INTERVAL, OPTIONAL, PATH, PATH_REGEX, REQUIRED, ROLLOVER_INTERVAL,
    SINK_PARALLELISM,
};
use super::part_writer::RollingPolicy;
use super::sink::FileSink;
use super::source::FileSource;

/// The connector `filesystem`.
pub struct FilesystemFactory;

impl DynamicTableFactory for FilesystemFactory {
    fn identifier(&self) -> &'static str {
        "filesystem"
    }

    fn description(&self) -> &'static str {
        "Files of a folder; written exactly once."
    }

    fn required_options(&self) -> &'static OptionList {
        &REQUIRED
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONAL
    }

    fn takes_format(&self) -> bool {
        true
    }

    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        refuse_partitions(context)?;
        let monitor_interval = context.options.get(&MONITOR_INTERVAL)?;
        if monitor_interval == Some(Duration::ZERO) {
            return Err(ValidationErrorKind::InvalidOption {
                key: "source.monitor-interval".to_string(),
                value: context
                    .options
                    .text("source.monitor-interval")
                    .unwrap_or_default()
                    .to_string(),
                reason: "it must be longer than zero".to_string(),
            }
            .into());
        }
        let pattern = match context.options.get(&PATH_REGEX)? {
            Some(pattern) => Some(Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
                ValidationErrorKind::InvalidOption {
                    key: "source.path.regex-pattern".to_string(),
                    value: pattern,
                    reason: error.to_string(),
                }
            })?),
            None => None,
        };
        Ok(Arc::new(FileSource {
            place: Place {
                root: context.options.get(&PATH)?,
                pattern,
            },
            monitor_interval,
            format: context.decoding_format()?,
            fields: context.schema.physical_fields(),
        }))
    }

    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        refuse_partitions(context)?;
        refuse_metadata(context)?;
        Ok(Arc::new(FileSink {
            path: context.options.get(&PATH)?,
            policy: RollingPolicy {
                size_bytes: context.options.get(&FILE_SIZE)?.bytes(),
                interval: context.options.get(&ROLLOVER_INTERVAL)?,
            },
            parallelism: context.options.get(&SINK_PARALLELISM)?.map(Into::into),
            format: context.encoding_format()?,
        }))
    }
}

fn refuse_partitions(context: &FactoryContext<'_>) -> Result<()> {
    if context.partition_keys.is_empty() {
        return Ok(());
    }
    Err(
        UnsupportedError::new("PARTITIONED BY with connector 'filesystem'")
            .instead("Leave it out; columns are read from the files.")
            .into(),
    )
}

/// What is known about a file cannot be written to it.
fn refuse_metadata(context: &FactoryContext<'_>) -> Result<()> {
    let written =
        context.schema.columns.iter().find(|column| {
            column.is_persisted() && matches!(column.kind, ColumnKind::Metadata { .. })
        });
    let Some(column) = written else {
        return Ok(());
    };
    Err(ValidationErrorKind::InvalidClause {
        message: format!(
            "metadata column '{}' cannot be written by connector 'filesystem'",
            column.name
        ),
        hint: Some("Declare it as METADATA VIRTUAL.".to_string()),
    }
    .into())
}

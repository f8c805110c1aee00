//! Makes the two sides of the connector.

use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext,
};
use aquifer_table_common::error::ValidationErrorKind;
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, ConfigValue, OptionList};
use aquifer_types::{ChangelogMode, RowKind};

use super::sink::ValuesSink;
use super::source::ValuesSource;

const BOUNDED: ConfigOption<bool> = ConfigOption::new(
    "bounded",
    "true",
    "Whether the source ends after its last row.",
);
const CHANGELOG_MODE: ConfigOption<Kinds> = ConfigOption::new(
    "changelog-mode",
    "I",
    "The kinds of changes among the rows of the source: I, UB, UA, D.",
);
const DATA_ID: ConfigOption<Option<String>> = ConfigOption::without_default(
    "data-id",
    "The rows of the source, as they were registered.",
);
const SINK_CHANGELOG_MODE: ConfigOption<Option<Kinds>> = ConfigOption::without_default(
    "sink-changelog-mode",
    "The kinds of changes that the sink takes; all if unset.",
);
const SINK_ID: ConfigOption<Option<String>> = ConfigOption::without_default(
    "sink-id",
    "Where results are found; the table's name if unset.",
);

static OPTIONS: [&dyn AnyConfigOption; 5] = [
    &BOUNDED,
    &CHANGELOG_MODE,
    &DATA_ID,
    &SINK_CHANGELOG_MODE,
    &SINK_ID,
];

/// Kinds of changes, written `I,UB,UA,D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds(ChangelogMode);

impl ConfigValue for Kinds {
    fn type_name() -> String {
        "list of I, UB, UA, D".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let kind = |text: &str| match text.trim() {
            "I" => Ok(RowKind::Insert),
            "UB" => Ok(RowKind::UpdateBefore),
            "UA" => Ok(RowKind::UpdateAfter),
            "D" => Ok(RowKind::Delete),
            other => Err(format!("'{other}' is none of I, UB, UA, D")),
        };
        let kinds: Vec<RowKind> = text.split(',').map(kind).collect::<Result<_, _>>()?;
        Ok(Kinds(ChangelogMode::of(kinds)))
    }

    fn to_text(&self) -> Option<String> {
        Some(self.0.to_string().trim_matches(['[', ']']).to_string())
    }
}

/// The connector `values`.
pub struct ValuesFactory;

impl DynamicTableFactory for ValuesFactory {
    fn identifier(&self) -> &'static str {
        "values"
    }

    fn description(&self) -> &'static str {
        "Rows that a test registers, and results that it reads back."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        let id = context.options.get(&DATA_ID)?.unwrap_or_default();
        let Some(epochs) = super::data(&id) else {
            let known = super::data_ids().join(", ");
            return Err(ValidationErrorKind::InvalidOption {
                key: "data-id".to_string(),
                value: id,
                reason: format!("no rows are registered under it; there are: {known}"),
            }
            .into());
        };
        let fields = context.schema.physical_fields();
        Ok(Arc::new(ValuesSource {
            id,
            epochs,
            types: fields.into_iter().map(|field| field.data_type).collect(),
            changelog_mode: context.options.get(&CHANGELOG_MODE)?.0,
            is_bounded: context.options.get(&BOUNDED)?,
        }))
    }

    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        let id = context.options.get(&SINK_ID)?;
        Ok(Arc::new(ValuesSink {
            id: id.unwrap_or_else(|| context.identifier.object.clone()),
            changelog_mode: context
                .options
                .get(&SINK_CHANGELOG_MODE)?
                .map(|kinds| kinds.0),
        }))
    }
}

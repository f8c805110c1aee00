//! The options, and the source they make.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{DynamicTableFactory, DynamicTableSource, FactoryContext};
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, OptionList};
use aquifer_table_common::schema::ResolvedSchema;

use super::field::{FieldGenerator, column_options};
use super::reader::DatagenSource;

const NUMBER_OF_ROWS: ConfigOption<Option<u64>> = ConfigOption::without_default(
    "number-of-rows",
    "How many rows to make; without it, and without a sequence, the source has no end.",
);
const ROWS_PER_SECOND: ConfigOption<NonZeroU64> = ConfigOption::new(
    "rows-per-second",
    "10000",
    "How many rows to make in a second at most, by all workers together.",
);
const SCAN_PARALLELISM: ConfigOption<Option<NonZeroUsize>> = ConfigOption::without_default(
    "scan.parallelism",
    "How many workers make rows; all if unset.",
);
const SEED: ConfigOption<u64> =
    ConfigOption::new("seed", "0", "Another seed gives other random values.");

static OPTIONS: [&dyn AnyConfigOption; 4] =
    [&NUMBER_OF_ROWS, &ROWS_PER_SECOND, &SCAN_PARALLELISM, &SEED];

/// The connector `datagen`.
pub struct DatagenFactory;

impl DynamicTableFactory for DatagenFactory {
    fn identifier(&self) -> &'static str {
        "datagen"
    }

    fn description(&self) -> &'static str {
        "Made-up rows."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn column_options(
        &self,
        schema: &ResolvedSchema,
    ) -> Vec<(String, &'static dyn AnyConfigOption)> {
        let mut options = Vec::new();
        for field in schema.physical_fields() {
            let prefix = format!("fields.{}", field.name);
            column_options(&prefix, &field.data_type, &mut options);
        }
        options
    }

    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        let options = context.options;
        let seed = options.get(&SEED)?;
        let mut fields = Vec::new();
        for field in context.schema.physical_fields() {
            let prefix = format!("fields.{}", field.name);
            fields.push(FieldGenerator::new(
                options,
                &prefix,
                &field.data_type,
                seed,
            )?);
        }
        let sequences = fields.iter().filter_map(FieldGenerator::sequence_length);
        let rows = options
            .get(&NUMBER_OF_ROWS)?
            .into_iter()
            .chain(sequences)
            .min();
        Ok(Arc::new(DatagenSource {
            fields: Arc::new(fields),
            rows,
            rows_per_second: options.get(&ROWS_PER_SECOND)?.get(),
            parallelism: options.get(&SCAN_PARALLELISM)?.map(Into::into),
        }))
    }
}

//! `blackhole`: takes all changes and forgets them. For measurements.

use std::sync::Arc;

use aquifer_runtime::{Batch, EpochOperator, Output};
use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, FactoryContext, SinkContext, SinkProvider,
};
use aquifer_types::ChangelogMode;

/// The connector `blackhole`.
pub struct BlackholeFactory;

impl DynamicTableFactory for BlackholeFactory {
    fn identifier(&self) -> &'static str {
        "blackhole"
    }

    fn description(&self) -> &'static str {
        "Takes all changes and forgets them."
    }

    fn create_sink(&self, _context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        Ok(Arc::new(Blackhole))
    }
}

struct Blackhole;

impl DynamicTableSink for Blackhole {
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode {
        *requested
    }

    fn summary(&self) -> String {
        "Blackhole".to_string()
    }

    fn create(&self, _context: &SinkContext) -> Result<SinkProvider> {
        Ok(SinkProvider::new(Arc::new(|| Box::new(BlackholeOperator))))
    }
}

struct BlackholeOperator;

impl EpochOperator for BlackholeOperator {
    fn process(
        &mut self,
        _input: usize,
        _batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        Ok(())
    }
}

//! The writing side as the planner sees it.

use std::path::PathBuf;
use std::sync::Arc;

use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableSink, EncodingFormat, SinkContext, SinkProvider,
};
use aquifer_table_common::error::IoError;
use aquifer_types::ChangelogMode;

use super::part_writer::{PartWriter, RollingPolicy, WritePlan, create_file};

pub(super) struct FileSink {
    pub(super) path: PathBuf,
    pub(super) policy: RollingPolicy,
    pub(super) parallelism: Option<usize>,
    pub(super) format: Arc<dyn EncodingFormat>,
}

impl DynamicTableSink for FileSink {
    fn changelog_mode(&self, _requested: &ChangelogMode) -> ChangelogMode {
        self.format.changelog_mode()
    }

    fn summary(&self) -> String {
        format!("Files({})", self.path.display())
    }

    fn create(&self, context: &SinkContext) -> Result<SinkProvider> {
        // Tried here, so that a type that the format cannot hold is no failure of the job.
        self.format.create_encoder(&context.fields)?;
        if self.path.exists() && !self.path.is_dir() {
            let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(IoError::new("write to", self.path.display().to_string(), error).into());
        }
        let plan = Arc::new(WritePlan {
            table: context.table.clone(),
            folder: self.path.clone(),
            policy: self.policy,
            format: Arc::clone(&self.format),
            fields: context.fields.clone(),
            create_file: Arc::new(create_file),
        });
        let mut provider = SinkProvider::new(Arc::new(move || {
            Box::new(PartWriter::new(Arc::clone(&plan)))
        }));
        provider.parallelism = self.parallelism;
        Ok(provider)
    }
}

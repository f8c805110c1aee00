//! The reading side as the planner sees it.

use std::sync::Arc;
use std::time::Duration;

use aquifer_runtime::Boundedness;
use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DecoderContext, DecodingFormat, DynamicTableSource, ScanColumnKind, ScanContext, ScanProvider,
};
use aquifer_table_common::error::ValidationErrorKind;
use aquifer_types::{ChangelogMode, DataType, Field};

use super::listing::Place;
use super::metadata::{FileMetadata, KEYS};
use super::reader::{FileReader, ReadColumn, ReadPlan};

pub(super) struct FileSource {
    pub(super) place: Place,
    pub(super) monitor_interval: Option<Duration>,
    pub(super) format: Arc<dyn DecodingFormat>,
    /// The columns of the records.
    pub(super) fields: Vec<Field>,
}

impl DynamicTableSource for FileSource {
    fn changelog_mode(&self) -> ChangelogMode {
        self.format.changelog_mode()
    }

    fn boundedness(&self) -> Boundedness {
        match self.monitor_interval {
            None => Boundedness::Bounded,
            Some(_) => Boundedness::Unbounded,
        }
    }

    fn summary(&self) -> String {
        format!("Files({})", self.place.root.display())
    }

    fn metadata(&self) -> Vec<(&'static str, DataType)> {
        KEYS.iter()
            .map(|(key, metadata)| (*key, metadata.data_type()))
            .collect()
    }

    fn scan(&self, context: &ScanContext) -> Result<ScanProvider> {
        let decoder = DecoderContext {
            fields: self.fields.clone(),
            projection: context.physical_columns(),
        };
        // Tried here, so that a type that the format cannot hold is no failure of the job.
        self.format.create_decoder(&decoder)?;
        let mut columns = Vec::new();
        for column in &context.columns {
            columns.push(match &column.kind {
                ScanColumnKind::Physical(_) => ReadColumn::Decoded,
                ScanColumnKind::Metadata(key) => ReadColumn::Metadata(metadata_of(key)?),
            });
        }
        let plan = Arc::new(ReadPlan {
            table: context.table.clone(),
            place: self.place.clone(),
            // Listed once for all workers of the process, so that they share the same splits.
            files: self.place.list()?,
            monitor_interval: self.monitor_interval,
            format: Arc::clone(&self.format),
            decoder,
            columns,
        });
        Ok(ScanProvider::new(Arc::new(move || {
            Box::new(FileReader::new(Arc::clone(&plan)))
        })))
    }
}

fn metadata_of(key: &str) -> Result<FileMetadata> {
    let found = KEYS.iter().find(|(known, _)| *known == key);
    found.map(|(_, metadata)| *metadata).ok_or_else(|| {
        let known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        ValidationErrorKind::InvalidClause {
            message: format!("connector 'filesystem' has no metadata '{key}'"),
            hint: Some(format!("It has {}.", known.join(", "))),
        }
        .into()
    })
}

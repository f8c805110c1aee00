//! Change batches as the rows of an edge.
//!
//! [`TableBatch`] lets a [`ChangeBatch`] travel in the runtime's [`Batch`]; [`ChangeBatchCodec`] knows the types of an
//! edge, which the bytes do not repeat.

use std::any::Any;

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::{Batch, BatchCodec, BatchData};
use aquifer_types::{ChangeBatch, DataType};

/// A change batch on an edge.
#[derive(Clone, Debug)]
pub struct TableBatch(pub ChangeBatch);

impl TableBatch {
    /// Takes the change batch out of a batch of a table edge.
    ///
    /// # Errors
    /// An internal error when the batch is of another edge.
    pub fn unwrap(batch: Batch) -> Result<ChangeBatch> {
        Ok(batch.into_data::<TableBatch>()?.0)
    }
}

impl From<TableBatch> for Batch {
    fn from(batch: TableBatch) -> Self {
        Batch::new(batch)
    }
}

impl BatchData for TableBatch {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn clone_data(&self) -> Box<dyn BatchData> {
        Box::new(self.clone())
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.encode(out);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Decodes the change batches of an edge with these column types.
#[derive(Clone, Debug)]
pub struct ChangeBatchCodec {
    /// The types of the columns.
    pub types: Vec<DataType>,
}

impl ChangeBatchCodec {
    /// The codec of rows with these columns.
    pub fn new(types: Vec<DataType>) -> Self {
        ChangeBatchCodec { types }
    }
}

impl BatchCodec for ChangeBatchCodec {
    fn decode(&self, bytes: &[u8], rows: usize) -> Result<Box<dyn BatchData>> {
        let failed = |reason: String| {
            RuntimeError::user(format!(
                "cannot read rows of {} that another process sent: {reason}",
                self.type_name()
            ))
        };
        let batch =
            ChangeBatch::decode(bytes, &self.types).map_err(|error| failed(error.to_string()))?;
        if batch.len() != rows {
            return Err(failed(format!(
                "{} rows where {rows} were announced",
                batch.len()
            )));
        }
        Ok(Box::new(TableBatch(batch)))
    }

    fn type_name(&self) -> String {
        let types: Vec<String> = self.types.iter().map(DataType::to_string).collect();
        format!("({})", types.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use aquifer_types::{DataTypes, Row, row_values};

    use super::*;

    #[test]
    fn a_batch_survives_the_wire_and_wrong_counts_are_refused() {
        let codec = ChangeBatchCodec::new(vec![DataTypes::int(), DataTypes::string()]);
        let rows = vec![Row::of(row_values![1, "a"]), Row::of(row_values![2, "b"])];
        let batch = TableBatch(ChangeBatch::from_rows(&rows, &codec.types).unwrap());
        let mut bytes = Vec::new();
        batch.encode(&mut bytes).unwrap();
        let decoded =
            TableBatch::unwrap(Batch::from_boxed(codec.decode(&bytes, 2).unwrap())).unwrap();
        assert_eq!(decoded.to_rows(&codec.types), rows);
        assert!(codec.decode(&bytes, 3).is_err());
        assert!(codec.decode(&bytes[1..], 2).is_err());
        assert_eq!(codec.type_name(), "(INT, STRING)");
    }
}

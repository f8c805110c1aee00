//! Change batches on the runtime's edges.

use std::any::Any;
use std::sync::Arc;

use aquifer_runtime::{Batch, BatchCodec, BatchData, RuntimeError};

use super::ChangeBatch;
use crate::DataType;

impl BatchData for ChangeBatch {
    fn rows(&self) -> usize {
        self.len()
    }

    fn clone_data(&self) -> Box<dyn BatchData> {
        Box::new(self.clone())
    }

    fn encode(&self, out: &mut Vec<u8>) -> aquifer_runtime::Result<()> {
        ChangeBatch::encode(self, out);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl From<ChangeBatch> for Batch {
    fn from(batch: ChangeBatch) -> Self {
        Batch::new(batch)
    }
}

/// Decodes the change batches of an edge, whose column types are agreed when the job is built.
#[derive(Debug, Clone)]
pub struct ChangeBatchCodec {
    types: Vec<DataType>,
}

impl ChangeBatchCodec {
    /// The codec of an edge with these column types.
    #[must_use]
    #[expect(clippy::new_ret_no_self, reason = "edges take the trait object")]
    pub fn new(types: Vec<DataType>) -> Arc<dyn BatchCodec> {
        Arc::new(Self { types })
    }
}

impl BatchCodec for ChangeBatchCodec {
    fn decode(&self, bytes: &[u8], rows: usize) -> aquifer_runtime::Result<Box<dyn BatchData>> {
        let batch = ChangeBatch::decode(bytes, &self.types).map_err(RuntimeError::internal)?;
        if batch.len() != rows {
            let found = batch.len();
            return Err(RuntimeError::internal(format!(
                "a change batch of {rows} rows arrived with {found}"
            )));
        }
        Ok(Box::new(batch))
    }

    fn type_name(&self) -> String {
        let types: Vec<String> = self.types.iter().map(ToString::to_string).collect();
        format!("({})", types.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataTypes, Row, Value};

    #[test]
    fn a_batch_survives_the_edge_and_a_cut_one_is_refused() {
        let types = vec![DataTypes::int(), DataTypes::string()];
        let rows = [Row::of(vec![Value::Int(7), Value::String("é".into())])];
        let batch = ChangeBatch::from_rows(&rows, &types).unwrap().negate();
        let codec = ChangeBatchCodec::new(types.clone());
        let mut bytes = Vec::new();
        BatchData::encode(&batch, &mut bytes).unwrap();
        let back = codec
            .decode(&bytes, 1)
            .unwrap()
            .into_any()
            .downcast::<ChangeBatch>()
            .unwrap();
        assert_eq!(back.row(0, &types), batch.row(0, &types));
        assert_eq!(back.weight(0), -1);
        assert!(codec.decode(&bytes, 2).is_err());
        assert!(codec.decode(&bytes[..bytes.len() - 1], 1).is_err());
    }
}

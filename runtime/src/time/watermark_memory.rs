//! The watermark an operator has acted on, kept over a restore.
//!
//! After a restore, watermarks start from nothing until the assigners have spoken again. An operator that forgot
//! how far it was would take a late record for one in time and answer differently from a run without the restore.

use crate::error::Result;
use crate::operator::{Output, Restore, Snapshot};
use crate::state::WATERMARK;

use super::watermark::MIN_WATERMARK;

/// See the module's description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatermarkMemory {
    current: i64,
}

impl Default for WatermarkMemory {
    fn default() -> Self {
        WatermarkMemory {
            current: MIN_WATERMARK,
        }
    }
}

impl WatermarkMemory {
    /// The watermark that counts now.
    #[inline]
    pub(crate) fn observe(&mut self, output: &Output) -> i64 {
        self.raise(output.watermark())
    }

    #[inline]
    pub(crate) fn raise(&mut self, watermark: i64) -> i64 {
        self.current = self.current.max(watermark);
        self.current
    }

    pub(crate) fn current(&self) -> i64 {
        self.current
    }

    pub(crate) fn snapshot(&self, snapshot: &mut Snapshot) {
        snapshot.list(WATERMARK, "i64", vec![self.current.to_le_bytes().to_vec()]);
    }

    /// All instances of an operator had the same watermark; should they differ, the lowest is safe.
    pub(crate) fn restore(&mut self, restore: &Restore) -> Result<()> {
        let records = restore.list(WATERMARK)?;
        let lowest = records
            .iter()
            .filter_map(|record| record.as_slice().try_into().ok().map(i64::from_le_bytes))
            .min();
        self.current = lowest.unwrap_or(MIN_WATERMARK);
        Ok(())
    }
}

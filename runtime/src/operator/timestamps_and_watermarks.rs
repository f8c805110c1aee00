//! `assign_timestamps_and_watermarks`: gives records timestamps and makes a new watermark in the middle of a stream.
//!
//! The watermark of the input is ignored, except that its end is the end of this one too.

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::{EpochEnd, EpochOperator, Output, Restore, Snapshot};
use crate::time::{MAX_WATERMARK, MIN_WATERMARK, SourceWatermarks, Watermark, WatermarkStrategy};

const WATERMARK: &str = "watermark";

/// See the module's description. Its transformation must be declared as assigning watermarks.
pub struct TimestampsAndWatermarksOperator<T> {
    watermarks: SourceWatermarks<T>,
    ended: bool,
}

impl<T: StreamData> TimestampsAndWatermarksOperator<T> {
    /// An operator that follows `strategy`.
    pub fn new(strategy: WatermarkStrategy<T>) -> Self {
        let mut watermarks = SourceWatermarks::new(strategy);
        watermarks.split_started(0);
        TimestampsAndWatermarksOperator {
            watermarks,
            ended: false,
        }
    }
}

impl<T: StreamData> EpochOperator for TimestampsAndWatermarksOperator<T> {
    fn restore(&mut self, state: &Restore) -> Result<()> {
        let records = state.list(WATERMARK)?;
        let lowest = records
            .iter()
            .filter_map(|record| record.as_slice().try_into().ok().map(i64::from_le_bytes))
            .min();
        self.watermarks.restore(lowest.unwrap_or(MIN_WATERMARK));
        Ok(())
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let batch = self
            .watermarks
            .on_batch(0, batch.into_data::<StreamBatch<T>>()?);
        output.emit(0, batch);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        if output.watermark() == MAX_WATERMARK {
            if !self.ended {
                self.ended = true;
                output.emit_watermark(Watermark::At(MAX_WATERMARK));
            }
        } else if let Some(watermark) = self.watermarks.on_epoch_end(output.processing_time()) {
            output.emit_watermark(watermark);
        }
        Ok(EpochEnd::Done)
    }

    /// The lowest of the instances counts after a restore: rows of another instance may come to this one.
    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.list(
            WATERMARK,
            "i64",
            vec![self.watermarks.current().to_le_bytes().to_vec()],
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Harness, values};

    fn operator() -> TimestampsAndWatermarksOperator<i64> {
        TimestampsAndWatermarksOperator::new(
            WatermarkStrategy::for_monotonous_timestamps()
                .with_timestamp_assigner(|value: &i64, _| value * 10),
        )
    }

    #[test]
    fn timestamps_watermarks_and_the_end() {
        let mut harness = Harness::new(operator(), 1).unwrap();
        harness
            .process(0, StreamBatch::from_values(vec![1i64, 3, 2]))
            .unwrap();
        let emitted = harness.end_epoch_at(5).unwrap();
        let batch = emitted[0].1.data::<StreamBatch<i64>>().unwrap();
        assert_eq!(batch.timestamps(), &[10, 30, 20]);
        assert_eq!(values::<i64>(emitted, 0), [1, 3, 2]);
        assert_eq!(harness.take_watermark(), Some(Watermark::At(29)));
        let mut state = crate::operator::MemoryState::default();
        harness.snapshot(&mut state).unwrap();
        harness.finish().unwrap();
        assert_eq!(harness.take_watermark(), Some(Watermark::At(MAX_WATERMARK)));

        let mut restored = Harness::new(operator(), 1).unwrap();
        restored.restore(&state).unwrap();
        restored
            .process(0, StreamBatch::from_values(vec![1i64]))
            .unwrap();
        restored.end_epoch().unwrap();
        assert_eq!(
            restored.take_watermark(),
            Some(Watermark::At(29)),
            "no way back"
        );
    }
}

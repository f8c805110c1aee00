//! How a stream gets timestamps and watermarks: Flink's `WatermarkStrategy`.
//!
//! Each split of a source (a file, a partition) has a generator of its own, so that a slow split holds the watermark
//! back and a fast one does not make the rows of others late. The watermark is the minimum over the splits that are
//! active: idle ones are left out until they have rows again, finished ones for good.

use std::sync::Arc;
use std::time::Duration;

use crate::batch::{NO_TIMESTAMP, StreamBatch};

use super::watermark::{MIN_WATERMARK, Watermark};

/// What a custom [`WatermarkGenerator`] decides.
#[derive(Debug)]
pub struct WatermarkOutput {
    watermark: i64,
    idle: bool,
}

impl WatermarkOutput {
    fn new() -> Self {
        WatermarkOutput {
            watermark: MIN_WATERMARK,
            idle: false,
        }
    }

    /// Promises that no record at or before `time` will come. Promises never go back.
    pub fn emit_watermark(&mut self, time: i64) {
        self.watermark = self.watermark.max(time);
        self.idle = false;
    }

    /// Leaves this split out of the minimum until it emits again or is marked active.
    pub fn mark_idle(&mut self) {
        self.idle = true;
    }

    /// Takes this split into the minimum again.
    pub fn mark_active(&mut self) {
        self.idle = false;
    }
}

/// Makes watermarks from the records of one split.
pub trait WatermarkGenerator<T> {
    /// Sees each record with its timestamp.
    fn on_event(&mut self, event: &T, timestamp: i64, output: &mut WatermarkOutput);
    /// Called at the end of every epoch.
    fn on_periodic_emit(&mut self, output: &mut WatermarkOutput);
}

/// Makes the generator of each split.
type GeneratorFactory<T> = Arc<dyn Fn() -> Box<dyn WatermarkGenerator<T>> + Send + Sync>;

/// Finds the timestamps of a batch of records; written per batch so that the loop is compiled with the closure.
type TimestampAssigner<T> = Arc<dyn Fn(&[T], &mut Vec<i64>) + Send + Sync>;

enum Kind<T> {
    NoWatermarks,
    Bounded { out_of_orderness_ms: i64 },
    Custom(GeneratorFactory<T>),
}

impl<T> Clone for Kind<T> {
    fn clone(&self) -> Self {
        match self {
            Kind::NoWatermarks => Kind::NoWatermarks,
            Kind::Bounded {
                out_of_orderness_ms,
            } => Kind::Bounded {
                out_of_orderness_ms: *out_of_orderness_ms,
            },
            Kind::Custom(factory) => Kind::Custom(factory.clone()),
        }
    }
}

/// How the records of a stream get timestamps and its watermark is made.
pub struct WatermarkStrategy<T> {
    kind: Kind<T>,
    assigner: Option<TimestampAssigner<T>>,
    idleness_ms: Option<i64>,
}

impl<T> Clone for WatermarkStrategy<T> {
    fn clone(&self) -> Self {
        WatermarkStrategy {
            kind: self.kind.clone(),
            assigner: self.assigner.clone(),
            idleness_ms: self.idleness_ms,
        }
    }
}

impl<T: 'static> WatermarkStrategy<T> {
    fn of(kind: Kind<T>) -> Self {
        WatermarkStrategy {
            kind,
            assigner: None,
            idleness_ms: None,
        }
    }

    /// No watermark until the input ends.
    pub fn no_watermarks() -> Self {
        Self::of(Kind::NoWatermarks)
    }

    /// For timestamps that never fall within a split.
    pub fn for_monotonous_timestamps() -> Self {
        Self::of(Kind::Bounded {
            out_of_orderness_ms: 0,
        })
    }

    /// For records that come at most `max_out_of_orderness` behind the highest timestamp seen.
    ///
    /// The watermark is that timestamp minus the bound minus one millisecond.
    pub fn for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> Self {
        Self::of(Kind::Bounded {
            out_of_orderness_ms: millis(max_out_of_orderness),
        })
    }

    /// By a generator of the user; `factory` makes one for each split.
    pub fn for_generator<G>(factory: impl Fn() -> G + Send + Sync + 'static) -> Self
    where
        G: WatermarkGenerator<T> + 'static,
    {
        Self::of(Kind::Custom(Arc::new(move || Box::new(factory()))))
    }

    /// Takes timestamps (milliseconds since 1970) from the records. `assigner` gets the record and the timestamp it
    /// had before, [`NO_TIMESTAMP`] when it had none.
    #[must_use]
    pub fn with_timestamp_assigner(
        mut self,
        assigner: impl Fn(&T, i64) -> i64 + Send + Sync + 'static,
    ) -> Self {
        self.assigner = Some(Arc::new(move |values, timestamps| {
            timestamps.resize(values.len(), NO_TIMESTAMP);
            for (value, timestamp) in values.iter().zip(timestamps) {
                *timestamp = assigner(value, *timestamp);
            }
        }));
        self
    }

    /// Leaves a split out of the minimum when it has had no records for this long (of announced processing time).
    #[must_use]
    pub fn with_idleness(mut self, idle_timeout: Duration) -> Self {
        self.idleness_ms = Some(millis(idle_timeout));
        self
    }

    /// True when records get their timestamps from this strategy.
    pub fn assigns_timestamps(&self) -> bool {
        self.assigner.is_some()
    }

    fn generator(&self) -> Generator<T> {
        match &self.kind {
            Kind::NoWatermarks => Generator::NoWatermarks,
            Kind::Bounded {
                out_of_orderness_ms,
            } => Generator::Bounded {
                highest: MIN_WATERMARK,
                out_of_orderness_ms: *out_of_orderness_ms,
            },
            Kind::Custom(factory) => Generator::Custom(factory()),
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

enum Generator<T> {
    NoWatermarks,
    Bounded {
        highest: i64,
        out_of_orderness_ms: i64,
    },
    Custom(Box<dyn WatermarkGenerator<T>>),
}

struct Split<T> {
    generator: Generator<T>,
    output: WatermarkOutput,
    /// Had records since the last end of an epoch.
    active: bool,
    /// When it last had records; `None` before the first end of an epoch.
    last_active: Option<i64>,
    idle: bool,
}

/// The watermarks of one instance of a source (or of an assigner, which has a single split).
pub struct SourceWatermarks<T> {
    strategy: WatermarkStrategy<T>,
    splits: Vec<Option<Split<T>>>,
    emitted: Option<Watermark>,
    /// The highest watermark so far, which is not gone back behind.
    highest: i64,
    timestamps: Vec<i64>,
}

impl<T: 'static> SourceWatermarks<T> {
    /// Without splits.
    pub fn new(strategy: WatermarkStrategy<T>) -> Self {
        SourceWatermarks {
            strategy,
            splits: Vec::new(),
            emitted: None,
            highest: MIN_WATERMARK,
            timestamps: Vec::new(),
        }
    }

    /// A split, numbered by the source, is read from now on: it holds the watermark back until it has records.
    pub fn split_started(&mut self, split: usize) {
        if self.splits.len() <= split {
            self.splits.resize_with(split + 1, || None);
        }
        if self.splits[split].is_none() {
            self.splits[split] = Some(Split {
                generator: self.strategy.generator(),
                output: WatermarkOutput::new(),
                active: false,
                last_active: None,
                idle: false,
            });
        }
    }

    /// A split has ended: it no longer counts.
    pub fn split_finished(&mut self, split: usize) {
        if let Some(split) = self.splits.get_mut(split) {
            *split = None;
        }
    }

    /// Takes one record of a split, whose timestamp from the source is `record_timestamp` ([`NO_TIMESTAMP`] for
    /// none), and answers its event timestamp.
    pub fn on_record(&mut self, split: usize, value: &T, record_timestamp: i64) -> i64 {
        self.timestamps.clear();
        self.timestamps.push(record_timestamp);
        if let Some(assigner) = &self.strategy.assigner {
            assigner(std::slice::from_ref(value), &mut self.timestamps);
        }
        let timestamp = self.timestamps[0];
        self.on_events(split, std::slice::from_ref(value), &[timestamp]);
        timestamp
    }

    /// Takes a batch of records of a split and answers it with event timestamps.
    pub fn on_batch(&mut self, split: usize, batch: StreamBatch<T>) -> StreamBatch<T> {
        let (values, mut timestamps) = batch.into_parts();
        if let Some(assigner) = &self.strategy.assigner {
            assigner(&values, &mut timestamps);
        }
        self.on_events(split, &values, &timestamps);
        StreamBatch::from_parts(values, timestamps)
    }

    /// `timestamps` is empty when the records have none.
    fn on_events(&mut self, split: usize, values: &[T], timestamps: &[i64]) {
        if values.is_empty() {
            return;
        }
        self.split_started(split);
        let Some(Some(split)) = self.splits.get_mut(split) else {
            return;
        };
        split.active = true;
        match &mut split.generator {
            Generator::NoWatermarks => {}
            Generator::Bounded { highest, .. } => {
                *highest = timestamps
                    .iter()
                    .fold(*highest, |highest, timestamp| highest.max(*timestamp));
            }
            Generator::Custom(generator) => {
                for (at, value) in values.iter().enumerate() {
                    let timestamp = timestamps.get(at).copied().unwrap_or(NO_TIMESTAMP);
                    generator.on_event(value, timestamp, &mut split.output);
                }
            }
        }
    }

    /// The epoch ends: answers the new watermark, if it changed. `processing_time` is the epoch's announced time.
    pub fn on_epoch_end(&mut self, processing_time: i64) -> Option<Watermark> {
        let idleness_ms = self.strategy.idleness_ms;
        let mut lowest: Option<i64> = None;
        for split in self.splits.iter_mut().flatten() {
            if split.active || split.last_active.is_none() {
                split.last_active = Some(processing_time);
            }
            let silent_ms = split
                .last_active
                .map_or(0, |last| processing_time.saturating_sub(last));
            split.idle = !split.active && idleness_ms.is_some_and(|idleness| silent_ms >= idleness);
            split.active = false;
            match &mut split.generator {
                Generator::NoWatermarks => {}
                Generator::Bounded { highest, .. } if *highest == MIN_WATERMARK => {}
                Generator::Bounded {
                    highest,
                    out_of_orderness_ms,
                } => {
                    let watermark = highest
                        .saturating_sub(*out_of_orderness_ms)
                        .saturating_sub(1);
                    split.output.watermark = split.output.watermark.max(watermark);
                }
                Generator::Custom(generator) => {
                    if !split.idle {
                        generator.on_periodic_emit(&mut split.output);
                    }
                }
            }
            if !(split.idle || split.output.idle) {
                let watermark = split.output.watermark;
                lowest = Some(lowest.map_or(watermark, |lowest| lowest.min(watermark)));
            }
        }
        let watermark = match lowest {
            Some(lowest) => {
                self.highest = self.highest.max(lowest);
                Watermark::At(self.highest)
            }
            None => Watermark::Idle,
        };
        self.changed(watermark)
    }

    /// Answers `watermark` if it differs from the last one; nothing promised yet is no news.
    fn changed(&mut self, watermark: Watermark) -> Option<Watermark> {
        let old = self.emitted.unwrap_or(Watermark::At(MIN_WATERMARK));
        if old == watermark {
            return None;
        }
        self.emitted = Some(watermark);
        Some(watermark)
    }

    /// The highest watermark so far, for a snapshot.
    pub fn current(&self) -> i64 {
        self.highest
    }

    /// Goes on from the watermark of an earlier run; it is emitted again at the end of the first epoch.
    pub fn restore(&mut self, watermark: i64) {
        self.highest = self.highest.max(watermark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Strategy = WatermarkStrategy<i64>;

    fn by_value(strategy: Strategy) -> SourceWatermarks<i64> {
        SourceWatermarks::new(strategy.with_timestamp_assigner(|value, _| *value))
    }

    #[test]
    fn the_watermark_trails_the_highest_timestamp_and_never_falls() {
        let mut source = by_value(Strategy::for_bounded_out_of_orderness(
            Duration::from_millis(5),
        ));
        assert_eq!(
            source
                .on_batch(0, StreamBatch::from_values(vec![20, 10]))
                .timestamps(),
            &[20, 10]
        );
        assert_eq!(source.on_epoch_end(0), Some(Watermark::At(14)));
        assert_eq!(source.on_record(0, &12, NO_TIMESTAMP), 12);
        assert_eq!(source.on_epoch_end(0), None);
        let mut monotonous = by_value(Strategy::for_monotonous_timestamps());
        monotonous.on_record(0, &7, NO_TIMESTAMP);
        assert_eq!(monotonous.on_epoch_end(0), Some(Watermark::At(6)));
    }

    #[test]
    fn the_slowest_active_split_counts() {
        let mut source = by_value(
            Strategy::for_monotonous_timestamps().with_idleness(Duration::from_millis(100)),
        );
        source.split_started(1);
        source.on_record(0, &50, NO_TIMESTAMP);
        assert_eq!(source.on_epoch_end(0), None, "split 1 has said nothing");
        source.on_record(1, &30, NO_TIMESTAMP);
        assert_eq!(source.on_epoch_end(10), Some(Watermark::At(29)));
        source.on_record(0, &60, NO_TIMESTAMP);
        assert_eq!(
            source.on_epoch_end(110),
            Some(Watermark::At(59)),
            "split 1 is idle"
        );
        assert_eq!(source.on_epoch_end(210), Some(Watermark::Idle), "both are");
        source.on_record(1, &70, NO_TIMESTAMP);
        assert_eq!(
            source.on_epoch_end(211),
            Some(Watermark::At(69)),
            "only split 1 is active"
        );
        source.on_record(0, &65, NO_TIMESTAMP);
        assert_eq!(source.on_epoch_end(212), None, "it does not go back to 64");
        source.split_finished(0);
        source.on_record(1, &80, NO_TIMESTAMP);
        assert_eq!(
            source.on_epoch_end(213),
            Some(Watermark::At(79)),
            "a finished split does not hold back"
        );
        source.split_finished(1);
        assert_eq!(source.on_epoch_end(214), Some(Watermark::Idle));
    }

    #[test]
    fn custom_generators_decide() {
        struct Marks;
        impl WatermarkGenerator<i64> for Marks {
            fn on_event(&mut self, event: &i64, timestamp: i64, output: &mut WatermarkOutput) {
                if *event < 0 {
                    output.emit_watermark(timestamp);
                }
            }
            fn on_periodic_emit(&mut self, _output: &mut WatermarkOutput) {}
        }
        let mut source = SourceWatermarks::new(Strategy::for_generator(|| Marks));
        source.on_record(0, &1, 10);
        assert_eq!(source.on_epoch_end(0), None);
        source.on_record(0, &-1, 11);
        assert_eq!(source.on_epoch_end(0), Some(Watermark::At(11)));
    }

    #[test]
    fn no_watermarks_and_restored_watermarks() {
        let mut source = by_value(Strategy::no_watermarks());
        source.on_record(0, &1, NO_TIMESTAMP);
        assert_eq!(source.on_epoch_end(0), None);
        let mut restored = by_value(Strategy::for_monotonous_timestamps());
        restored.restore(40);
        restored.on_record(0, &10, NO_TIMESTAMP);
        assert_eq!(restored.on_epoch_end(0), Some(Watermark::At(40)));
    }
}

//! Which windows a row belongs to.
//!
//! Windows are half-open spans of milliseconds, aligned to the epoch plus an offset. Rows of TIMESTAMP_LTZ are
//! assigned by their local time in the session's zone, so that a day is a local day; window bounds are local times,
//! and fire when the watermark, an instant, reaches the instant of their end.
//!
//! Semantics: Flink's window table-valued functions (`SliceAssigners`, `TimeWindowUtil`).

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::error::internal;

/// The windows of a row, aligned to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WindowKind {
    /// Windows of one size, one after the other.
    Tumble {
        /// Length in milliseconds.
        size_ms: i64,
        /// Shift of the start in milliseconds.
        offset_ms: i64,
    },
    /// Windows of one size, a new one every slide.
    Hop {
        /// Length in milliseconds.
        size_ms: i64,
        /// Distance of two starts in milliseconds.
        slide_ms: i64,
        /// Shift of the start in milliseconds.
        offset_ms: i64,
    },
    /// Windows that start together and end one step after the other, up to a largest size.
    Cumulate {
        /// Largest length in milliseconds, a multiple of the step.
        max_size_ms: i64,
        /// Distance of two ends in milliseconds.
        step_ms: i64,
        /// Shift of the start in milliseconds.
        offset_ms: i64,
    },
}

/// Where the time of a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WindowTime {
    /// A column with event time: TIMESTAMP or TIMESTAMP_LTZ.
    Rowtime(usize),
    /// The processing time of the row's epoch.
    Proctime,
}

impl WindowKind {
    /// True when windows over this time are assigned by instants, so that their bounds are local times.
    pub fn is_instant(time: WindowTime, types: &[DataType]) -> bool {
        match time {
            WindowTime::Proctime => true,
            WindowTime::Rowtime(column) => {
                matches!(types[column].logical, LogicalType::TimestampLtz(_))
            }
        }
    }

    /// Checks that the windows exist.
    ///
    /// # Errors
    /// When a size is not positive or a largest size is no multiple of its step.
    pub fn validate(&self) -> Result<()> {
        let refuse = |message: String| Err(RuntimeError::user(message));
        match *self {
            WindowKind::Tumble { size_ms, .. } if size_ms <= 0 => refuse(format!(
                "the size of a TUMBLE window must be positive, but is {size_ms} ms"
            )),
            WindowKind::Hop {
                size_ms, slide_ms, ..
            } if size_ms <= 0 || slide_ms <= 0 => refuse(format!(
                "size and slide of a HOP window must be positive, but are {size_ms} ms and {slide_ms} ms"
            )),
            WindowKind::Cumulate {
                max_size_ms,
                step_ms,
                ..
            } if max_size_ms <= 0 || step_ms <= 0 || max_size_ms % step_ms != 0 => refuse(format!(
                "the size of a CUMULATE window must be a positive multiple of its step, but they are \
                     {max_size_ms} ms and {step_ms} ms"
            )),
            _ => Ok(()),
        }
    }

    /// Calls `each` with start and end of every window that contains the local time `time`, in Flink's order.
    #[inline]
    pub fn for_each(&self, time: i64, mut each: impl FnMut(i64, i64)) {
        match *self {
            WindowKind::Tumble { size_ms, offset_ms } => {
                let start = aligned(time, offset_ms, size_ms);
                each(start, start + size_ms);
            }
            WindowKind::Hop {
                size_ms,
                slide_ms,
                offset_ms,
            } => {
                let mut start = aligned(time, offset_ms, slide_ms);
                while start > time - size_ms {
                    each(start, start + size_ms);
                    start -= slide_ms;
                }
            }
            WindowKind::Cumulate {
                max_size_ms,
                step_ms,
                offset_ms,
            } => {
                let start = aligned(time, offset_ms, max_size_ms);
                let mut end = aligned(time, offset_ms, step_ms) + step_ms;
                while end <= start + max_size_ms {
                    each(start, end);
                    end += step_ms;
                }
            }
        }
    }

    /// The length of the slices that windows are made of, their shift, and the length of a window.
    fn slicing(&self) -> (i64, i64, i64) {
        match *self {
            WindowKind::Tumble { size_ms, offset_ms } => (size_ms, offset_ms, size_ms),
            WindowKind::Hop {
                size_ms,
                slide_ms,
                offset_ms,
            } => (greatest_divisor(size_ms, slide_ms), offset_ms, size_ms),
            WindowKind::Cumulate {
                max_size_ms,
                step_ms,
                offset_ms,
            } => (step_ms, offset_ms, max_size_ms),
        }
    }

    /// The start of a window that is one slice, by its end. For HOP that of the last window that ends there.
    pub(crate) fn start_of(&self, end: i64) -> i64 {
        let (_, offset, size) = self.slicing();
        match self {
            WindowKind::Cumulate { .. } => aligned(end - 1, offset, size),
            _ => end - size,
        }
    }

    /// The end of the slice that a row of the local time `time` updates, given which windows have fired: `None` when
    /// all of its windows have, or when it has none.
    #[inline]
    pub(crate) fn open_slice(&self, time: i64, has_fired: impl Fn(i64) -> bool) -> Option<i64> {
        let (width, offset, _) = self.slicing();
        let mut end = aligned(time, offset, width) + width;
        match *self {
            WindowKind::Tumble { .. } => (!has_fired(end)).then_some(end),
            WindowKind::Hop { .. } => {
                self.first_window_end(end)?;
                (!has_fired(self.last_window_end(end))).then_some(end)
            }
            WindowKind::Cumulate {
                max_size_ms,
                step_ms,
                ..
            } => {
                // The content of slices that have fired has moved on into the next.
                let last = aligned(time, offset, max_size_ms) + max_size_ms;
                while end <= last && has_fired(end) {
                    end += step_ms;
                }
                (end <= last).then_some(end)
            }
        }
    }

    /// The end of the first window that contains a slice; `None` for slices between windows.
    pub(crate) fn first_window_end(&self, slice_end: i64) -> Option<i64> {
        match *self {
            WindowKind::Hop {
                size_ms,
                slide_ms,
                offset_ms,
            } => {
                let end = slice_end + (offset_ms + size_ms - slice_end).rem_euclid(slide_ms);
                (end <= self.last_window_end(slice_end)).then_some(end)
            }
            _ => Some(slice_end),
        }
    }

    /// The end of the last window that contains a slice.
    pub(crate) fn last_window_end(&self, slice_end: i64) -> i64 {
        match *self {
            WindowKind::Tumble { .. } => slice_end,
            WindowKind::Hop {
                size_ms,
                slide_ms,
                offset_ms,
            } => {
                let (width, ..) = self.slicing();
                aligned(slice_end - width, offset_ms, slide_ms) + size_ms
            }
            WindowKind::Cumulate { max_size_ms, .. } => self.start_of(slice_end) + max_size_ms,
        }
    }
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}

/// The largest `offset + n * step` that is not after `time`.
#[inline]
fn aligned(time: i64, offset: i64, step: i64) -> i64 {
    time - (time - offset).rem_euclid(step)
}

/// Reads the times of rows as local milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeReader {
    pub(crate) time: WindowTime,
    /// The session's zone, for times that are instants; UTC for others.
    zone: TimeZone,
    column_type: Option<TimeUnit>,
}

impl TimeReader {
    pub(crate) fn new(time: WindowTime, types: &[DataType], zone: TimeZone) -> Result<Self> {
        match time {
            WindowTime::Proctime => Ok(TimeReader {
                time,
                zone,
                column_type: None,
            }),
            WindowTime::Rowtime(column) => {
                let data_type = &types[column];
                let zone = match data_type.logical {
                    LogicalType::Timestamp(_) => TimeZone::default(),
                    LogicalType::TimestampLtz(_) => zone,
                    _ => {
                        return Err(internal(format!(
                            "a window's time column {column} is of type {data_type}"
                        )));
                    }
                };
                let ArrowType::Timestamp(unit, _) = data_type.to_arrow() else {
                    return Err(internal("a timestamp is an Arrow timestamp"));
                };
                Ok(TimeReader {
                    time,
                    zone,
                    column_type: Some(unit),
                })
            }
        }
    }

    /// The local time of each row in milliseconds; `None` where it is NULL.
    pub(crate) fn read(
        &self,
        batch: &ChangeBatch,
        processing_time: i64,
    ) -> Result<Vec<Option<i64>>> {
        let WindowTime::Rowtime(column) = self.time else {
            return Ok(vec![Some(self.local_of(processing_time)); batch.len()]);
        };
        let column: &ArrayRef = batch.column(column);
        let (values, per_millisecond) = match self.column_type {
            Some(TimeUnit::Microsecond) => (
                column.as_primitive::<TimestampMicrosecondType>().values(),
                1_000,
            ),
            Some(TimeUnit::Nanosecond) => (
                column.as_primitive::<TimestampNanosecondType>().values(),
                1_000_000,
            ),
            unit => {
                return Err(internal(format!(
                    "a window's time column has unit {unit:?}"
                )));
            }
        };
        let local = |(row, value): (usize, &i64)| {
            column
                .is_valid(row)
                .then(|| self.local_of(value.div_euclid(per_millisecond)))
        };
        Ok(values.iter().enumerate().map(local).collect())
    }

    fn local_of(&self, millis: i64) -> i64 {
        if self.zone.is_utc() {
            millis
        } else {
            self.zone
                .to_local_micros(millis.saturating_mul(1000))
                .div_euclid(1000)
        }
    }

    /// The instant of a local time, in milliseconds.
    pub(crate) fn instant_of(&self, millis: i64) -> i64 {
        if self.zone.is_utc() {
            millis
        } else {
            self.zone
                .to_instant_micros(millis.saturating_mul(1000))
                .div_euclid(1000)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn windows(kind: WindowKind, time: i64) -> Vec<(i64, i64)> {
        let mut windows = Vec::new();
        kind.for_each(time, |start, end| windows.push((start, end)));
        windows
    }

    #[test]
    fn windows_of_known_times() {
        let tumble = WindowKind::Tumble {
            size_ms: 10,
            offset_ms: 3,
        };
        assert_eq!(windows(tumble, -1), [(-7, 3)]);
        assert_eq!(windows(tumble, 3), [(3, 13)]);
        let hop = WindowKind::Hop {
            size_ms: 10,
            slide_ms: 4,
            offset_ms: 0,
        };
        assert_eq!(windows(hop, 9), [(8, 18), (4, 14), (0, 10)]);
        assert_eq!(
            windows(
                WindowKind::Hop {
                    size_ms: 2,
                    slide_ms: 5,
                    offset_ms: 0
                },
                3
            ),
            [],
            "between two windows"
        );
        let cumulate = WindowKind::Cumulate {
            max_size_ms: 15,
            step_ms: 5,
            offset_ms: 0,
        };
        assert_eq!(windows(cumulate, 7), [(0, 10), (0, 15)]);
    }

    proptest! {
        #[test]
        fn windows_contain_their_time(
            time in -100i64..100,
            slide in 1i64..20,
            steps in 1i64..6,
            offset in -10i64..10,
        ) {
            let size = slide * steps;
            for kind in [
                WindowKind::Tumble { size_ms: size, offset_ms: offset },
                WindowKind::Hop { size_ms: size, slide_ms: slide, offset_ms: offset },
                WindowKind::Cumulate { max_size_ms: size, step_ms: slide, offset_ms: offset },
            ] {
                kind.validate().unwrap();
                let windows = windows(kind, time);
                prop_assert!(!windows.is_empty());
                prop_assert!(windows.iter().all(|(start, end)| *start <= time && time < *end));
                // The slice of a time is in all its windows and in no other.
                let slice = kind.open_slice(time, |_| false).unwrap();
                prop_assert!(slice > time);
                let ends = windows.iter().map(|(_, end)| *end);
                prop_assert_eq!(ends.clone().max(), Some(kind.last_window_end(slice)));
                prop_assert_eq!(ends.min(), kind.first_window_end(slice));
            }
        }
    }
}

//! The properties of windows in the output of window aggregations.

use std::sync::Arc;

use arrow_array::{ArrayRef, TimestampMicrosecondArray};

use super::assigner::TimeReader;

/// A property of a window in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WindowProperty {
    /// `window_start`, TIMESTAMP(3).
    Start,
    /// `window_end`, TIMESTAMP(3).
    End,
    /// `window_time`, the last millisecond: TIMESTAMP(3), or TIMESTAMP_LTZ(3) when windows are assigned by instants.
    Time,
}

impl WindowProperty {
    /// The column of this property, given start and end of each row's window as milliseconds of local time.
    pub(crate) fn column(
        self,
        starts: &[i64],
        ends: &[i64],
        times: &TimeReader,
        is_instant: bool,
    ) -> ArrayRef {
        let micros = |millis: &mut dyn Iterator<Item = i64>| {
            TimestampMicrosecondArray::from_iter_values(
                millis.map(|millis| millis.saturating_mul(1000)),
            )
        };
        match self {
            WindowProperty::Start => Arc::new(micros(&mut starts.iter().copied())),
            WindowProperty::End => Arc::new(micros(&mut ends.iter().copied())),
            WindowProperty::Time => {
                let last = micros(&mut ends.iter().map(|end| times.instant_of(end - 1)));
                if is_instant {
                    Arc::new(last.with_timezone("UTC"))
                } else {
                    Arc::new(last)
                }
            }
        }
    }
}

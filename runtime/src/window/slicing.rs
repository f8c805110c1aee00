//! How time is cut into slices, so that each record is added once however many windows it is in.
//!
//! Overlapping windows begin and end at multiples of the greatest common divisor of size and slide: a slice of that
//! width lies in or out of a window as a whole. Windows that do not overlap are slices themselves.

use super::time_window::TimeWindow;

/// Windows of `size` that start every `slide`, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slicing {
    size: i64,
    slide: i64,
    offset: i64,
    width: i64,
}

impl Slicing {
    /// Windows of `size`, one every `slide`, the first at `offset`; sizes are at least 1.
    pub fn new(size: i64, slide: i64, offset: i64) -> Self {
        let (size, slide) = (size.max(1), slide.max(1));
        let width = if slide >= size {
            size
        } else {
            greatest_common_divisor(size, slide)
        };
        Slicing {
            size,
            slide,
            offset: offset.rem_euclid(slide),
            width,
        }
    }

    /// True when a record can be in several windows.
    #[inline]
    pub fn overlaps(&self) -> bool {
        self.slide < self.size
    }

    /// The width of a slice.
    #[inline]
    pub fn width(&self) -> i64 {
        self.width
    }

    /// The start of the slice of a record; `None` when it lies between windows.
    #[inline]
    pub fn slice_of(&self, timestamp: i64) -> Option<i64> {
        if self.overlaps() {
            return Some(TimeWindow::window_start_with_offset(
                timestamp,
                self.offset,
                self.width,
            ));
        }
        let start = TimeWindow::window_start_with_offset(timestamp, self.offset, self.slide);
        (timestamp < start.saturating_add(self.size)).then_some(start)
    }

    /// The window that ends at `end`.
    pub fn window_ending(&self, end: i64) -> TimeWindow {
        TimeWindow::new(end.saturating_sub(self.size), end)
    }

    /// The end of the window that starts at `start`.
    pub fn end_of(&self, start: i64) -> i64 {
        start.saturating_add(self.size)
    }

    /// The end of the last window that holds the slice at `start`.
    pub fn last_end(&self, start: i64) -> i64 {
        TimeWindow::window_start_with_offset(start, self.offset, self.slide)
            .saturating_add(self.size)
    }

    /// The end of the first window that holds the slice at `start`.
    pub fn first_end(&self, start: i64) -> i64 {
        let before = start.saturating_sub(self.size);
        TimeWindow::window_start_with_offset(before, self.offset, self.slide)
            .saturating_add(self.slide)
            .saturating_add(self.size)
    }

    /// The end of the window after the one that ends at `end`.
    pub fn next_end(&self, end: i64) -> i64 {
        end.saturating_add(self.slide)
    }

    /// The end of the last window that is over when the watermark is at `watermark`: slices that start before it
    /// are closed.
    pub fn closed_before(&self, watermark: i64) -> i64 {
        if watermark == i64::MIN || watermark == i64::MAX {
            return watermark;
        }
        let (watermark, size) = (i128::from(watermark), i128::from(self.size));
        // The window starting at s is over when s + size - 1 <= watermark.
        let latest_start = watermark + 1 - size;
        let start = latest_start
            - (latest_start - i128::from(self.offset)).rem_euclid(i128::from(self.slide));
        i64::try_from(start + size).unwrap_or(i64::MIN)
    }

    /// The windows that hold the slice at `start` and are over, given what [`closed_before`](Self::closed_before)
    /// says, from the last to the first.
    pub fn closed_windows(
        &self,
        start: i64,
        closed_before: i64,
    ) -> impl Iterator<Item = TimeWindow> {
        let (first, slide) = (self.first_end(start), self.slide);
        let windows = *self;
        std::iter::successors(Some(self.last_end(start)), move |end| {
            end.checked_sub(slide)
        })
        .take_while(move |end| *end >= first)
        .filter(move |end| *end <= closed_before)
        .map(move |end| windows.window_ending(end))
    }
}

/// The slicing of an assigner's windows, and how they are made.
#[derive(Debug)]
pub struct SlicedWindows<W> {
    /// How time is cut.
    pub slicing: Slicing,
    /// Makes the assigner's window of an interval.
    pub window: fn(TimeWindow) -> W,
}

impl<W> Clone for SlicedWindows<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for SlicedWindows<W> {}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::window::{SlidingEventTimeWindows, WindowAssigner};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn slices_lie_in_the_windows_that_the_assigner_gives(
            size in 1i64..30, slide in 1i64..30, offset in -10i64..10, timestamp in -100i64..100, watermark in -100i64..100
        ) {
            let slicing = Slicing::new(size, slide, offset);
            let millis = |ms: i64| std::time::Duration::from_millis(ms as u64);
            let mut windows = Vec::new();
            SlidingEventTimeWindows::of(millis(size), millis(slide)).offset(offset)
                .assign_windows(&(), timestamp, 0, &mut windows);
            let Some(slice) = slicing.slice_of(timestamp) else {
                prop_assert!(windows.is_empty());
                return Ok(());
            };
            prop_assert!(slice <= timestamp && timestamp < slice + slicing.width());
            prop_assert_eq!(slicing.last_end(slice), windows[0].end);
            prop_assert_eq!(slicing.first_end(slice), windows[windows.len() - 1].end);
            let closed = slicing.closed_before(watermark);
            prop_assert!(closed - 1 <= watermark && slicing.next_end(closed) - 1 > watermark);
            let over: Vec<_> = windows.iter().copied().filter(|window| window.end - 1 <= watermark).collect();
            prop_assert_eq!(slicing.closed_windows(slice, closed).collect::<Vec<_>>(), over);
            for window in windows {
                prop_assert_eq!(slicing.window_ending(window.end), window);
                prop_assert!(window.start <= slice && slice + slicing.width() <= window.end);
            }
        }
    }
}

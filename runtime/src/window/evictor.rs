//! Removes elements from a window before or after it is computed.

use super::aggregation::WindowElements;
use super::assigner::positive_millis;

/// The clocks, for an evictor.
#[derive(Clone, Copy, Debug)]
pub struct EvictorContext {
    /// The watermark.
    pub current_watermark: i64,
    /// The announced wall clock of the epoch.
    pub current_processing_time: i64,
}

/// Removes elements from a window. A window with an evictor keeps all its elements, whatever it computes.
pub trait Evictor<T, W>: Send + Sync + 'static {
    /// Before the window is computed.
    fn evict_before(&self, elements: &mut WindowElements<T>, window: &W, context: &EvictorContext);
    /// After the window was computed.
    fn evict_after(&self, elements: &mut WindowElements<T>, window: &W, context: &EvictorContext) {
        let _ = (elements, window, context);
    }
}

/// Keeps the last elements.
#[derive(Clone, Copy, Debug)]
pub struct CountEvictor {
    max_count: usize,
}

impl CountEvictor {
    /// Keeps the last `max_count` elements.
    pub fn of(max_count: usize) -> Self {
        CountEvictor { max_count }
    }
}

impl<T, W> Evictor<T, W> for CountEvictor {
    fn evict_before(&self, elements: &mut WindowElements<T>, _: &W, _: &EvictorContext) {
        elements.drop_first(elements.len().saturating_sub(self.max_count));
    }
}

/// Keeps the elements of the last stretch of time before the latest one.
#[derive(Clone, Copy, Debug)]
pub struct TimeEvictor {
    window_size: i64,
}

impl TimeEvictor {
    /// Keeps elements that are less than `window_size` older than the latest.
    pub fn of(window_size: std::time::Duration) -> Self {
        TimeEvictor {
            window_size: positive_millis(window_size),
        }
    }
}

impl<T, W> Evictor<T, W> for TimeEvictor {
    fn evict_before(&self, elements: &mut WindowElements<T>, _: &W, _: &EvictorContext) {
        let Some(latest) = elements.timestamps().iter().max().copied() else {
            return;
        };
        let cutoff = latest.saturating_sub(self.window_size);
        elements.retain(|_, timestamp| timestamp > cutoff);
    }
}

//! Event time: watermarks, the strategies that make them, and timers.

mod watermark;

pub use watermark::{MAX_WATERMARK, MIN_WATERMARK, Watermark, WatermarkTracker, WatermarkUpdate};

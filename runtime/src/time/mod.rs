//! Event time: watermarks, the strategies that make them, and timers.

mod keyed_timers;
mod strategy;
mod timer_service;
mod watermark;
mod watermark_memory;

pub(crate) use keyed_timers::KeyedTimers;
pub use keyed_timers::{TimeDomain, TimerService};
pub use strategy::{SourceWatermarks, WatermarkGenerator, WatermarkOutput, WatermarkStrategy};
pub use timer_service::TimerIndex;
pub use watermark::{MAX_WATERMARK, MIN_WATERMARK, Watermark, WatermarkTracker, WatermarkUpdate};
pub(crate) use watermark_memory::WatermarkMemory;

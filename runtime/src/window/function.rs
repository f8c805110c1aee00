//! What turns a window's results into output.

use crate::batch::StreamData;
use crate::error::Result;
use crate::operator::{Collector, OutputTag, RuntimeContext, SideOutputs};

/// Computes the output of a window from its elements, or from the one value they were reduced to.
///
/// The function is cloned for every worker. Results carry the window's highest timestamp.
pub trait ProcessWindowFunction<I, O, K, W>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else. State declared here is kept per key, over all its windows.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Computes one window of `key`.
    ///
    /// # Errors
    /// Fails the job.
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[I],
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// The input has ended.
    ///
    /// # Errors
    /// Fails the job.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a window function can ask.
pub struct WindowContext<'a, W> {
    pub(crate) window: &'a W,
    pub(crate) timestamp: i64,
    pub(crate) watermark: i64,
    pub(crate) processing_time: i64,
    pub(crate) sides: &'a mut SideOutputs,
}

impl<W> WindowContext<'_, W> {
    /// The window.
    pub fn window(&self) -> &W {
        self.window
    }

    /// The watermark.
    pub fn current_watermark(&self) -> i64 {
        self.watermark
    }

    /// The announced wall clock of the current epoch, in milliseconds since 1970.
    pub fn current_processing_time(&self) -> i64 {
        self.processing_time
    }

    /// Emits a value to a side output, with the window's timestamp.
    pub fn output<X: StreamData>(&mut self, tag: &OutputTag<X>, value: X) {
        self.sides.push(tag, value, self.timestamp);
    }
}

/// Emits the results as they are: `reduce` and `aggregate` without a window function.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmitResults;

impl<I: StreamData, K, W> ProcessWindowFunction<I, I, K, W> for EmitResults {
    fn process(
        &mut self,
        _: &K,
        _: &mut WindowContext<'_, W>,
        elements: &[I],
        out: &mut Collector<I>,
    ) -> Result<()> {
        elements
            .iter()
            .for_each(|element| out.collect(element.clone()));
        Ok(())
    }
}

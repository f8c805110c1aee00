//! Prints a stream, one value per line.

use std::fmt::Debug;
use std::io::Write;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::data_stream::{DataStream, DataStreamSink};
use crate::error::{Result, RuntimeError};
use crate::operator::{EpochOperator, OperatorContext, Output};

#[derive(Clone)]
struct PrintOperator<T> {
    identifier: String,
    to_error: bool,
    prefix: String,
    values: std::marker::PhantomData<fn() -> T>,
}

impl<T: StreamData + Debug> EpochOperator for PrintOperator<T> {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        // As Flink: "identifier:worker> " with the worker counted from 1, and only when there are several.
        self.prefix = match (self.identifier.as_str(), context.parallelism) {
            ("", 1) => String::new(),
            ("", _) => format!("{}> ", context.worker + 1),
            (identifier, 1) => format!("{identifier}> "),
            (identifier, _) => format!("{identifier}:{}> ", context.worker + 1),
        };
        Ok(())
    }

    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        let mut text = Vec::new();
        for value in batch.into_data::<StreamBatch<T>>()?.values() {
            writeln!(text, "{}{value:?}", self.prefix).map_err(RuntimeError::user)?;
        }
        let written = if self.to_error {
            std::io::stderr().lock().write_all(&text)
        } else {
            std::io::stdout().lock().write_all(&text)
        };
        written.map_err(|cause| RuntimeError::io("standard output", cause))
    }
}

impl<T: StreamData + Debug> DataStream<T> {
    /// Prints each value to standard output, on the process where it is. With several workers the worker's number
    /// (from 1) stands in front.
    pub fn print(&self) -> DataStreamSink {
        self.print_to("", false)
    }

    /// As [`print`](Self::print), with an identifier in front.
    pub fn print_with(&self, identifier: &str) -> DataStreamSink {
        self.print_to(identifier, false)
    }

    /// As [`print`](Self::print), to standard error.
    pub fn print_to_err(&self) -> DataStreamSink {
        self.print_to("", true)
    }

    fn print_to(&self, identifier: &str, to_error: bool) -> DataStreamSink {
        let operator = PrintOperator::<T> {
            identifier: identifier.to_string(),
            to_error,
            prefix: String::new(),
            values: std::marker::PhantomData,
        };
        self.end_in("Print", move || Box::new(operator.clone()))
    }
}

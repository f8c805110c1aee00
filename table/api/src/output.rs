//! The standard output of the program, for the methods that print.

use std::io::Write;

use aquifer_table_common::{IoError, Result};

/// Writes a text and ends the line.
pub(crate) fn print_line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|error| IoError::new("print to", "the standard output", error).into())
}

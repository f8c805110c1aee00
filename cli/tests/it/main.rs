//! The launcher from outside, with small shell scripts as jobs.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod launcher;
mod run;

//! Jobs on real workers.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may panic and print"
)]

mod basics;
mod checkpoints;
mod cluster;
mod crash;
mod event_time;
mod failures;
mod support;

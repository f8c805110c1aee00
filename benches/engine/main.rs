//! What the engine costs, against programs written by hand for timely dataflow.
//!
//! `cargo bench --bench engine` runs all; `-- --quick` runs a shorter version, and words run the workloads whose names
//! contain one of them. Each line names workload, variant and rows, the CPU time per row (the best round), and the
//! ratio to the hand-written program (the median of paired rounds).

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints and ends when its job fails"
)]

mod harness;
mod jobs;
mod join;
mod keyed;
mod programs;
mod stateless;
mod tables;
mod windows;

use harness::Scale;

/// A workload and what runs it.
type Workload = (&'static str, fn(Scale));

const WORKLOADS: &[Workload] = &[
    ("stateless", stateless::run),
    ("keyed", keyed::run),
    ("join", join::run),
    ("windows", windows::run),
    ("idle", jobs::idle),
    ("scaling", jobs::scaling),
    ("latency", jobs::latency),
    ("checkpoint", jobs::checkpoint),
];

fn main() {
    let (flags, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let scale = Scale::new(flags.iter().any(|flag| flag == "--quick"));
    for (name, run) in WORKLOADS {
        if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
            run(scale);
        }
    }
}

//! One program on several processes.
//!
//! ```sh
//! cargo build --release -p aquifer-cli -p aquifer --example multi_process
//! target/release/aquifer run -n 2 -w 2 -- target/release/examples/multi_process
//! ```
//!
//! Every process runs this whole program and so builds the same job; the workers of all of them run it together. A
//! source is read once, its parts by whichever worker owns them, and each key lives on one worker. Process 0 gets the
//! collected results. The program knows nothing of the launcher: started alone it does the same with one process.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program speaks by its output"
)]

use std::collections::BTreeMap;

use aquifer::prelude::*;
use serde::{Deserialize, Serialize};

/// How many numbers are looked at.
const LAST: i64 = 200_000;

/// What the numbers with one length of the Collatz sequence have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Group {
    steps: u32,
    numbers: u64,
    smallest: i64,
}

fn main() -> Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    eprintln!("process {} of {} workers", env.process(), env.workers());

    let groups = env
        .from_sequence(1, LAST)
        .map(|n| Group {
            steps: collatz_steps(n),
            numbers: 1,
            smallest: n,
        })
        .key_by(|group| group.steps)
        .reduce(|a, b| Group {
            steps: a.steps,
            numbers: a.numbers + b.numbers,
            smallest: a.smallest.min(b.smallest),
        });

    let mut last = BTreeMap::new();
    for group in groups.execute_and_collect()? {
        let group = group?;
        last.insert(group.steps, group);
    }
    if env.process() == 0 {
        let numbers: u64 = last.values().map(|group| group.numbers).sum();
        println!("{numbers} numbers in {} groups", last.len());
        for group in last.values().rev().take(5) {
            println!(
                "{} steps: {} numbers, the smallest is {}",
                group.steps, group.numbers, group.smallest
            );
        }
    }
    Ok(())
}

/// How many steps of n/2 or 3n+1 it takes to reach 1.
fn collatz_steps(mut n: i64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

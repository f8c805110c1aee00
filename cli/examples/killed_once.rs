//! A job for the launcher's tests: sums numbers, and one of its processes kills itself once, after the third
//! checkpoint.
//!
//! Process 0 prints the sum and whether the run that finished saw fewer sums than there are numbers, which means that
//! it did not start anew.

#![expect(clippy::print_stdout, reason = "a program speaks by its output")]

use std::path::PathBuf;
use std::time::Duration;
use std::{env, thread};

use aquifer_runtime::checkpoint::CheckpointStorage;
use aquifer_runtime::{Configuration, Result, StreamExecutionEnvironment};
use rustix::process::{Signal, getpid, kill_process};

const NUMBERS: i64 = 20_000;
/// Name of a job whose results are collected.
const JOB: &str = "Collect";

fn main() -> Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    env.configure(&Configuration::from_map([
        ("execution.checkpointing.interval", "20 ms"),
        ("pipeline.epoch.max-rows", "100"),
    ])?);
    let folder = env::var_os("AQUIFER_EXECUTION_CHECKPOINTING_DIR").map(PathBuf::from);
    let is_victim = env.process() == 1 && env::var("AQUIFER_ATTEMPT").is_ok_and(|n| n == "0");

    let sums = env
        .from_sequence(1, NUMBERS)
        .uid("numbers")
        .map(move |n| {
            // The victim is slow, so that it surely lives to see the checkpoint.
            thread::sleep(Duration::from_micros(if is_victim { 1000 } else { 20 }));
            if is_victim && n % 10 == 0 && has_checkpoints(folder.clone()) {
                // Nothing to do if it fails: then the test sees no restart.
                let _ = kill_process(getpid(), Signal::KILL);
            }
            n
        })
        .key_by(|_| 0_u8)
        .reduce(|sum, n| sum + n)
        .uid("sum");
    let sums = sums.execute_and_collect()?.collect::<Result<Vec<_>>>()?;
    if env.process() == 0 {
        let restored = i64::try_from(sums.len()).is_ok_and(|count| count < NUMBERS);
        let sum = sums.last().copied().unwrap_or_default();
        println!("sum {sum}, restored {restored}");
    }
    Ok(())
}

/// Whether the third is complete: a restore hands out again what the last one held, and not what those before did.
fn has_checkpoints(folder: Option<PathBuf>) -> bool {
    let newest = CheckpointStorage::new(folder.as_deref(), JOB).latest();
    newest.is_ok_and(|newest| newest.is_some_and(|manifest| manifest.checkpoint_id >= 3))
}

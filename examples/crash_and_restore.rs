//! Kills a job again and again, lets it go on from its last checkpoint, and shows that every flight was counted
//! and written exactly once.
//!
//! ```sh
//! cargo run --release --example crash_and_restore
//! ```
//!
//! This program starts itself as a child that runs the job, waits until the child has completed a few checkpoints,
//! and kills it with SIGKILL. After some rounds it lets the job run to its end. The job numbers the flights of each
//! airline (keyed state) and writes the numbered lines with a sink that makes them visible only when their
//! checkpoint is complete. A lost update would leave a gap in the numbers; a repeated one would give a number twice.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program speaks by its output"
)]

#[path = "flights/mod.rs"]
mod flights;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, io, thread};

use aquifer::prelude::*;
use aquifer::runtime::checkpoint::CheckpointStorage;

use flights::{FLIGHTS, Flight};

/// Tells the child that it is the job, and where its files are.
const FOLDER: &str = "CRASH_AND_RESTORE_FOLDER";
/// Name of the job, by which its checkpoints are found.
const JOB: &str = "flights";
/// Below that folder.
const CHECKPOINT_FOLDER: &str = "checkpoints";
const OUTPUT_FOLDER: &str = "output";
/// What each row costs, so that the job lives long enough to be killed.
const PAUSE: Duration = Duration::from_micros(20);
/// How often the job is killed.
const KILLS: u32 = 3;
/// After how many checkpoints of one run.
const CHECKPOINTS: u64 = 2;

fn main() -> ExitCode {
    let outcome = match env::var_os(FOLDER) {
        Some(folder) => run_job(Path::new(&folder)).map_err(|error| error.report()),
        None => supervise().map_err(|error| error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

// ---- the job ----

fn run_job(folder: &Path) -> Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    env.configure(&Configuration::from_map([
        ("pipeline.epoch.max-rows", "200"),
        ("pipeline.epoch.interval", "5 ms"),
        ("execution.checkpointing.interval", "20 ms"),
    ])?);
    env.set_checkpoint_directory(folder.join(CHECKPOINT_FOLDER));
    env.read_text_file(FLIGHTS)
        .uid("flights")
        .filter(|line| !Flight::is_header(line))
        .try_map(|line| {
            thread::sleep(PAUSE);
            Flight::parse(&line)
        })
        .map(|flight| (flight.carrier, 1_u64))
        .key_by(|(carrier, _)| carrier.clone())
        .reduce(|(carrier, a), (_, b)| (carrier, a + b))
        .uid("numbers")
        .sink_to(FileSink {
            folder: folder.join(OUTPUT_FOLDER),
        })
        .uid("output");
    env.execute_named(JOB)?;
    Ok(())
}

/// Writes numbered flights to files that become visible by checkpoints.
struct FileSink {
    folder: PathBuf,
}

/// The two phases: a file is complete on disk under a hidden name before its checkpoint is, and gets its visible
/// name afterwards. Hidden files that no checkpoint knows are what a crash left; nobody reads them.
struct FileWriter {
    folder: PathBuf,
    /// First part of the names of this writer's files; another one in each run.
    label: String,
    current: Option<BufWriter<File>>,
    files: usize,
    /// Names of complete files that are not visible yet.
    prepared: Vec<String>,
}

impl Sink for FileSink {
    type Item = (String, u64);

    fn create_writer(&self, context: &OperatorContext) -> Result<Box<dyn SinkWriter<Self::Item>>> {
        fs::create_dir_all(&self.folder).map_err(RuntimeError::user)?;
        Ok(Box::new(FileWriter {
            folder: self.folder.clone(),
            label: format!("part-{}-{}", std::process::id(), context.worker),
            current: None,
            files: 0,
            prepared: Vec::new(),
        }))
    }
}

impl FileWriter {
    fn hidden(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".{name}"))
    }

    fn append(&mut self, values: Vec<(String, u64)>) -> io::Result<()> {
        if self.current.is_none() {
            let name = format!("{}-{}", self.label, self.files);
            self.current = Some(BufWriter::new(File::create(self.hidden(&name))?));
        }
        if let Some(file) = &mut self.current {
            for (carrier, number) in values {
                writeln!(file, "{carrier},{number}")?;
            }
        }
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.current.take() {
            file.flush()?;
            file.get_ref().sync_all()?;
            self.prepared.push(format!("{}-{}", self.label, self.files));
            self.files += 1;
        }
        Ok(())
    }

    fn publish(&self, name: &str) -> io::Result<()> {
        match fs::rename(self.hidden(name), self.folder.join(name)) {
            // Done before the crash.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

impl SinkWriter<(String, u64)> for FileWriter {
    fn write(&mut self, values: Vec<(String, u64)>) -> Result<()> {
        self.append(values).map_err(RuntimeError::user)
    }

    fn prepare(&mut self) -> Result<Vec<Vec<u8>>> {
        self.complete().map_err(RuntimeError::user)?;
        let names = self.prepared.iter();
        Ok(names.map(|name| name.clone().into_bytes()).collect())
    }

    fn commit(&mut self, _checkpoint: u64) -> Result<()> {
        for name in std::mem::take(&mut self.prepared) {
            self.publish(&name).map_err(RuntimeError::user)?;
        }
        Ok(())
    }

    fn restore(&mut self, prepared: Vec<Vec<u8>>) -> Result<()> {
        for name in prepared {
            let name = String::from_utf8(name).map_err(RuntimeError::user)?;
            self.publish(&name).map_err(RuntimeError::user)?;
        }
        Ok(())
    }
}

// ---- the one who kills it ----

fn supervise() -> io::Result<()> {
    let folder = env::temp_dir().join(format!("aquifer-crash-and-restore-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let outcome = kill_and_restore(&folder).and_then(|()| report(&folder));
    fs::remove_dir_all(&folder)?;
    outcome
}

fn kill_and_restore(folder: &Path) -> io::Result<()> {
    for run in 0..=KILLS {
        let mut job = Command::new(env::current_exe()?);
        job.args(env::args_os().skip(1)).env(FOLDER, folder);
        if run > 0 {
            job.env("AQUIFER_RECOVER", "latest");
        }
        let before = newest_checkpoint(folder)?;
        let mut job = job.spawn()?;
        if run == KILLS {
            let status = job.wait()?;
            if !status.success() {
                return Err(io::Error::other(format!("the job failed: {status}")));
            }
            println!("run {run} went on from the last checkpoint to the end");
            break;
        }
        while newest_checkpoint(folder)? < before + CHECKPOINTS {
            if let Some(status) = job.try_wait()? {
                return Err(io::Error::other(format!("the job ended early: {status}")));
            }
            thread::sleep(Duration::from_millis(1));
        }
        job.kill()?;
        job.wait()?;
        println!("run {run} was killed after {CHECKPOINTS} checkpoints");
    }
    Ok(())
}

/// The number of the newest complete checkpoint; 0 if there is none.
fn newest_checkpoint(folder: &Path) -> io::Result<u64> {
    let storage = CheckpointStorage::new(Some(&folder.join(CHECKPOINT_FOLDER)), JOB);
    let newest = storage.latest().map_err(io::Error::other)?;
    Ok(newest.map_or(0, |manifest| manifest.checkpoint_id))
}

/// Checks that the numbers of each airline are 1, 2, .. without gap or repetition.
fn report(folder: &Path) -> io::Result<()> {
    let mut numbers: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut lines = 0;
    for entry in fs::read_dir(folder.join(OUTPUT_FOLDER))? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        for line in fs::read_to_string(entry.path())?.lines() {
            let (carrier, number) = line
                .split_once(',')
                .and_then(|(carrier, number)| Some((carrier, number.parse().ok()?)))
                .ok_or_else(|| io::Error::other(format!("half a line: '{line}'")))?;
            lines += 1;
            if !numbers
                .entry(carrier.to_owned())
                .or_default()
                .insert(number)
            {
                return Err(io::Error::other(format!("{line} was written twice")));
            }
        }
    }
    for (carrier, numbers) in &numbers {
        if numbers.last().copied() != Some(numbers.len() as u64) {
            return Err(io::Error::other(format!(
                "numbers of {carrier} are missing"
            )));
        }
    }
    println!(
        "{lines} flights of {} airlines, each counted and written exactly once",
        numbers.len()
    );
    Ok(())
}

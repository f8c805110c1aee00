//! Processes that die at any moment: what a two-phase sink shows at the end is complete and without duplicates.
//!
//! Finds: rows counted twice or not at all when offsets and state belong to different epochs; prepared files that are
//! not committed after a crash between manifest and commit, or committed twice; checkpoints that look complete and
//! are not.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aquifer_runtime::config::options;
use aquifer_runtime::source::{SourceOutput, SplitReader};
use aquifer_runtime::time::WatermarkStrategy;
use aquifer_runtime::{
    Boundedness, NO_TIMESTAMP, OperatorContext, Result, RuntimeError, Sink, SinkWriter, Source,
    SourceStatus, StreamExecutionEnvironment,
};

use crate::cluster::{Cluster, text};

const CRASHES: u64 = 100;
const SPLITS: u64 = 8;
/// Ends a split's rows.
const LAST: i64 = -1;

/// Counts upwards in each split until a file says stop.
struct Counters {
    stop: PathBuf,
}

struct CountersReader {
    stop: PathBuf,
    /// Split, next number, whether the end was sent.
    splits: Vec<(u64, i64, bool)>,
    share: (usize, usize),
}

impl Source for Counters {
    type Item = (u64, i64);

    fn boundedness(&self) -> Boundedness {
        Boundedness::Unbounded
    }

    fn create_reader(&self, context: &OperatorContext) -> Result<Box<dyn SplitReader<(u64, i64)>>> {
        let share = (context.worker, context.parallelism);
        let splits = (0..SPLITS)
            .filter(|split| *split as usize % share.1 == share.0)
            .map(|split| (split, 0, false));
        Ok(Box::new(CountersReader {
            stop: self.stop.clone(),
            splits: splits.collect(),
            share,
        }))
    }
}

impl SplitReader<(u64, i64)> for CountersReader {
    fn restore(&mut self, positions: Vec<Vec<u8>>) -> Result<()> {
        self.splits.clear();
        for record in positions {
            let (split, next, ended): (u64, i64, bool) =
                bincode::deserialize(&record).map_err(RuntimeError::user)?;
            if split as usize % self.share.1 == self.share.0 {
                self.splits.push((split, next, ended));
            }
        }
        Ok(())
    }

    fn poll(&mut self, output: &mut SourceOutput<'_, (u64, i64)>) -> Result<SourceStatus> {
        let stop = self.stop.exists();
        for (split, next, ended) in &mut self.splits {
            if *ended {
                continue;
            }
            for _ in 0..20 {
                output.collect(*split as usize, (*split, *next), NO_TIMESTAMP);
                *next += 1;
            }
            if stop {
                output.collect(*split as usize, (*split, LAST), NO_TIMESTAMP);
                *ended = true;
            }
        }
        let ended = self.splits.iter().all(|(_, _, ended)| *ended);
        Ok(if ended {
            SourceStatus::Finished
        } else {
            SourceStatus::Waiting(Duration::from_millis(1))
        })
    }

    fn positions(&mut self) -> Result<Vec<Vec<u8>>> {
        self.splits
            .iter()
            .map(|split| bincode::serialize(split).map_err(RuntimeError::user))
            .collect()
    }
}

/// Files that appear under their final name when their checkpoint is complete.
pub(crate) struct Files {
    folder: PathBuf,
    file: Option<PathBuf>,
}

impl Files {
    /// Writes everything to one path.
    pub(crate) fn in_one_file(path: &str) -> Self {
        Files {
            folder: PathBuf::new(),
            file: Some(path.into()),
        }
    }
}

struct FilesWriter {
    folder: PathBuf,
    file: Option<PathBuf>,
    prefix: String,
    count: u64,
    current: Option<(PathBuf, BufWriter<File>)>,
    prepared: Vec<PathBuf>,
}

impl Sink for Files {
    type Item = (u64, i64);

    fn create_writer(&self, context: &OperatorContext) -> Result<Box<dyn SinkWriter<(u64, i64)>>> {
        let run = std::process::id();
        let prefix = format!("{run}-{}", context.worker);
        Ok(Box::new(FilesWriter {
            folder: self.folder.clone(),
            file: self.file.clone(),
            prefix,
            count: 0,
            current: None,
            prepared: Vec::new(),
        }))
    }
}

fn publish(file: &Path) -> Result<()> {
    let name = file.with_extension("done");
    match std::fs::rename(file, &name) {
        Err(cause) if !name.exists() => Err(RuntimeError::io(file, cause)),
        _ => Ok(()),
    }
}

impl SinkWriter<(u64, i64)> for FilesWriter {
    fn write(&mut self, values: Vec<(u64, i64)>) -> Result<()> {
        if self.current.is_none() {
            self.count += 1;
            let part = || {
                self.folder
                    .join(format!("{}-{}.part", self.prefix, self.count))
            };
            let path = self.file.clone().unwrap_or_else(part);
            let file = File::create(&path).map_err(|cause| RuntimeError::io(&path, cause))?;
            self.current = Some((path, BufWriter::new(file)));
        }
        let Some((path, file)) = &mut self.current else {
            unreachable!("opened above")
        };
        for (split, number) in values {
            writeln!(file, "{split} {number}").map_err(|cause| RuntimeError::io(&*path, cause))?;
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<Vec<Vec<u8>>> {
        if let Some((path, mut file)) = self.current.take() {
            file.flush()
                .map_err(|cause| RuntimeError::io(&path, cause))?;
            self.prepared.push(path);
        }
        Ok(self
            .prepared
            .iter()
            .map(|path| path.display().to_string().into_bytes())
            .collect())
    }

    fn commit(&mut self, _checkpoint: u64) -> Result<()> {
        self.prepared.drain(..).try_for_each(|path| publish(&path))
    }

    fn restore(&mut self, prepared: Vec<Vec<u8>>) -> Result<()> {
        prepared
            .into_iter()
            .try_for_each(|path| publish(Path::new(&String::from_utf8_lossy(&path).into_owned())))
    }
}

/// The job of the child processes.
pub(crate) fn run(env: &StreamExecutionEnvironment) -> Result<()> {
    let folder = PathBuf::from(std::env::var("CRASH_FOLDER").map_err(RuntimeError::user)?);
    env.set_checkpoint_directory(folder.join("checkpoints"))
        .enable_checkpointing(Duration::from_millis(5))
        .set(&options::EPOCH_INTERVAL, Duration::from_millis(1));
    let source = Counters {
        stop: folder.join("stop"),
    };
    env.from_source(source, WatermarkStrategy::no_watermarks(), "Counters")
        .uid("counters")
        .shuffle()
        .map(|row| row)
        .sink_to(Files {
            file: None,
            folder: folder.join("out"),
        })
        .uid("files");
    env.execute_named("crash").map(|_| ())
}

#[test]
fn output_is_complete_and_without_duplicates_after_many_crashes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let start = |connect_timeout: &str| {
        Cluster::start("crash", 2, |_, command| {
            command
                .env("CRASH_FOLDER", folder.path())
                .env("AQUIFER_RECOVER", "latest")
                .env("AQUIFER_CLUSTER_CONNECT_TIMEOUT", connect_timeout);
        })
    };
    // A fixed sequence of waits and victims; the moments still vary with the machine's load.
    let mut random = 7u64;
    let mut next = |bound: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for _ in 0..CRASHES {
        // A process that waits for one that was killed before they met gives up soon.
        let mut cluster = start("500 ms");
        std::thread::sleep(Duration::from_millis(20 + next(120)));
        cluster.children[next(2) as usize].kill().unwrap();
        cluster.wait();
    }
    std::fs::write(folder.path().join("stop"), "").unwrap();
    for output in start("30 s").wait() {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }

    let mut seen: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder.path().join("out")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "done")
        {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let (split, number) = line.split_once(' ').unwrap();
                seen.entry(split.parse().unwrap())
                    .or_default()
                    .push(number.parse().unwrap());
            }
        }
    }
    assert_eq!(seen.len() as u64, SPLITS);
    let mut rows = 0;
    for (split, mut numbers) in seen {
        numbers.sort_unstable();
        rows += numbers.len();
        let expected: Vec<i64> = (LAST..numbers.len() as i64 - 1).collect();
        assert_eq!(
            numbers, expected,
            "split {split} has gaps, duplicates or no end"
        );
    }
    assert!(
        rows > 1000,
        "the job must have made progress between the crashes: {rows} rows"
    );
}

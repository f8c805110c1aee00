//! Tests of writing: no crash loses or doubles a row, and failures name their file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aquifer_formats::CsvFormatFactory;
use aquifer_runtime::operator::MemoryState;
use aquifer_runtime::testing::Harness;
use aquifer_table_common::connector::{FactoryContext, FormatFactory, SinkContext};
use aquifer_table_common::identifier::ObjectIdentifier;
use aquifer_table_common::options::TableOptions;
use aquifer_table_common::schema::ResolvedSchema;
use aquifer_types::{ChangeBatch, ChangelogMode, DataTypes, Field, Row, row_values};
use proptest::prelude::*;

use super::part_writer::{
    CreateFile, PartOutput, PartWriter, RollingPolicy, WritePlan, create_file,
};

fn plan(folder: &Path, size_bytes: u64, create_file: CreateFile) -> Arc<WritePlan> {
    let format = CsvFormatFactory.create_encoding_format(&TableOptions::new());
    Arc::new(WritePlan {
        table: "t".to_string(),
        folder: folder.to_path_buf(),
        policy: RollingPolicy {
            size_bytes,
            interval: Duration::from_secs(60),
        },
        format: format.unwrap(),
        fields: vec![Field::new("id", DataTypes::int())],
        create_file,
    })
}

fn rows(ids: std::ops::Range<i32>) -> ChangeBatch {
    let rows: Vec<Row> = ids.map(|id| Row::of(row_values![id])).collect();
    ChangeBatch::from_rows(&rows, &[DataTypes::int()]).unwrap()
}

type Writer = Harness<PartWriter>;

fn start(
    plan: &Arc<WritePlan>,
    worker: usize,
    workers: usize,
    state: Option<&MemoryState>,
) -> Writer {
    let mut writer =
        Harness::on_worker(PartWriter::new(Arc::clone(plan)), 1, worker, workers).unwrap();
    if let Some(state) = state {
        writer.restore(state).unwrap();
    }
    writer
}

/// The visible lines, each with how often it occurs, and the number of hidden files.
fn contents(folder: &Path) -> (BTreeMap<i32, usize>, usize) {
    let (mut lines, mut hidden) = (BTreeMap::new(), 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with('.') {
            hidden += 1;
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines() {
            *lines.entry(line.parse().unwrap()).or_default() += 1;
        }
    }
    (lines, hidden)
}

#[test]
fn rows_become_visible_with_their_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(
        &folder.path().join("new/out"),
        1 << 20,
        Arc::new(create_file),
    );
    let mut writer = start(&plan, 0, 1, None);
    let seen = || contents(&plan.folder);
    writer.process(0, rows(0..10)).unwrap();
    writer.end_epoch().unwrap();
    assert_eq!(seen(), (BTreeMap::new(), 1));
    let mut state = MemoryState::default();
    writer.snapshot(&mut state).unwrap();
    writer.process(0, rows(10..20)).unwrap();
    writer.operator_commit(1);
    assert_eq!(seen().0.len(), 10);
    writer.operator_commit(1);
    assert_eq!(seen(), ((0..10).map(|id| (id, 1)).collect(), 1));
}

trait Commit {
    fn operator_commit(&mut self, checkpoint: u64);
}

impl Commit for Writer {
    fn operator_commit(&mut self, checkpoint: u64) {
        use aquifer_runtime::EpochOperator as _;
        self.operator().commit(checkpoint).unwrap();
    }
}

#[test]
fn files_roll_by_size_and_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), 100, Arc::new(create_file));
    let mut writer = start(&plan, 0, 1, None);
    for _ in 0..3 {
        writer.process(0, rows(100..140)).unwrap();
    }
    assert_eq!(contents(folder.path()).1, 3);
    writer.process(0, rows(0..1)).unwrap();
    writer.set_processing_time(59_000);
    writer.end_epoch().unwrap();
    writer.process(0, rows(1..2)).unwrap();
    assert_eq!(contents(folder.path()).1, 4);
    writer.set_processing_time(60_000);
    writer.end_epoch().unwrap();
    writer.process(0, rows(2..3)).unwrap();
    assert_eq!(contents(folder.path()).1, 5);
}

#[test]
fn jobs_with_one_uid_leave_each_others_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), 1 << 20, Arc::new(create_file));
    let (mut first, mut second) = (start(&plan, 0, 1, None), start(&plan, 0, 1, None));
    let mut state = MemoryState::default();
    first.process(0, rows(0..1)).unwrap();
    first.snapshot(&mut state).unwrap();
    second.process(0, rows(1..2)).unwrap();
    drop(first);
    // The first is restored while the second writes.
    let mut first = start(&plan, 0, 1, Some(&state));
    first.process(0, rows(2..3)).unwrap();
    for writer in [&mut first, &mut second] {
        writer.snapshot(&mut MemoryState::default()).unwrap();
        writer.operator_commit(2);
    }
    assert_eq!(
        contents(folder.path()),
        ((0..3).map(|id| (id, 1)).collect(), 0)
    );
}

#[test]
fn a_prepared_file_that_is_lost_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), 1 << 20, Arc::new(create_file));
    let mut writer = start(&plan, 0, 1, None);
    writer.process(0, rows(0..1)).unwrap();
    let mut state = MemoryState::default();
    writer.snapshot(&mut state).unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let mut writer = Harness::new(PartWriter::new(Arc::clone(&plan)), 1).unwrap();
    let error = writer.restore(&state).unwrap_err();
    assert_eq!(error.code(), "sink.commit");
    assert!(error.to_string().contains(".inprogress"), "{error}");
}

/// A disk with room for some bytes.
struct SmallDisk(usize);

impl io::Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PartOutput for SmallDisk {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let small: CreateFile = Arc::new(|_| Ok(Box::new(SmallDisk(100_000))));
    let plan = plan(folder.path(), 1 << 30, small);
    let mut writer = start(&plan, 0, 1, None);
    let mut written = 0;
    let error = loop {
        match writer.process(0, rows(0..10_000)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 10);
    };
    assert_eq!(error.code(), "sink.write");
    let report = error.report();
    assert!(
        report.contains(&folder.path().display().to_string()),
        "{report}"
    );
    assert!(error.is_retryable());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let plan = plan(&file.join("out"), 1, Arc::new(create_file));
    let error = Harness::new(PartWriter::new(plan), 1).err().unwrap();
    assert_eq!(error.code(), "sink.open");
    assert!(error.to_string().contains("file/out"), "{error}");
}

#[test]
fn a_changelog_is_refused_by_the_mode_and_a_file_in_place_of_the_folder_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let path = file.display().to_string();
    let options: TableOptions = [
        ("connector", "filesystem"),
        ("path", path.as_str()),
        ("format", "json"),
    ]
    .into_iter()
    .collect();
    let registry = crate::registry();
    let fields = vec![Field::new("id", DataTypes::int())];
    let context = FactoryContext {
        identifier: &ObjectIdentifier::of("c", "d", "t"),
        schema: &ResolvedSchema::physical(fields.clone()),
        options: &options,
        partition_keys: &[],
        registry: &registry,
    };
    let sink = registry.create_sink(&context).unwrap();
    assert!(sink.changelog_mode(&ChangelogMode::all()).is_insert_only());
    let context = SinkContext {
        table: "t".to_string(),
        fields,
        key: Vec::new(),
        changelog_mode: ChangelogMode::insert_only(),
    };
    let error = sink.create(&context).err().unwrap();
    assert!(error.report().contains(&path), "{error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A source with positions in front of the sink: each run writes on from the last complete
    /// checkpoint, takes some checkpoints of which some commit on some workers only, and crashes.
    #[test]
    fn no_row_is_lost_or_doubled_by_crashes(
        runs in prop::collection::vec((1_usize..4, prop::collection::vec((0_i32..30, 0_u8..4, any::<u8>()), 0..5)), 1..5),
        size_bytes in prop::sample::select(vec![20_u64, 1 << 20]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(folder.path(), size_bytes, Arc::new(create_file));
        let mut complete: Option<(MemoryState, i32)> = None;
        let mut fresh_starts = 0;
        let last = (2, vec![(10, 0, 255)]);
        for (workers, steps) in runs.into_iter().chain([last]) {
            let state = complete.as_ref().map(|(state, _)| state);
            fresh_starts += usize::from(state.is_none());
            let mut position = complete.as_ref().map_or(0, |(_, position)| *position);
            let mut writers: Vec<Writer> =
                (0..workers).map(|worker| start(&plan, worker, workers, state)).collect();
            for (step, (count, how, commits)) in steps.into_iter().enumerate() {
                for (worker, writer) in writers.iter_mut().enumerate() {
                    // Each row goes to one worker.
                    let own: Vec<Row> = (position..position + count)
                        .filter(|id| *id as usize % workers == worker)
                        .map(|id| Row::of(row_values![id]))
                        .collect();
                    writer.process(0, ChangeBatch::from_rows(&own, &[DataTypes::int()]).unwrap()).unwrap();
                    writer.end_epoch().unwrap();
                }
                position += count;
                // 0, 1: a checkpoint completes; 2: it is taken but never completes; 3: none.
                let mut next = MemoryState::default();
                if how < 3 {
                    for writer in &mut writers {
                        writer.snapshot(&mut next).unwrap();
                    }
                }
                if how < 2 {
                    complete = Some((next, position));
                    let mut all = true;
                    for (worker, writer) in writers.iter_mut().enumerate() {
                        if commits >> worker & 1 == 1 {
                            writer.operator_commit(step as u64);
                        } else {
                            all = false;
                        }
                    }
                    if !all {
                        // The next checkpoint waits for all commits, so this run ends here.
                        break;
                    }
                } else if how == 2 {
                    break;
                }
            }
        }
        let (_, position) = complete.unwrap();
        let (lines, hidden) = contents(folder.path());
        prop_assert_eq!(lines, (0..position).map(|id| (id, 1)).collect());
        // What a run left behind that never completed a checkpoint belongs to no other run.
        prop_assert!(hidden == 0 || fresh_starts > 1);
    }
}

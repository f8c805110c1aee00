//! Tests of reading: what every worker count and every crash must not change.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use aquifer_runtime::operator::MemoryState;
use aquifer_runtime::source::{SourceFactory, SourceStatus};
use aquifer_runtime::testing::SourceHarness;
use aquifer_table_common::TableError;
use aquifer_table_common::connector::{FactoryContext, ScanColumn, ScanColumnKind, ScanContext};
use aquifer_table_common::identifier::ObjectIdentifier;
use aquifer_table_common::options::TableOptions;
use aquifer_table_common::schema::ResolvedSchema;
use aquifer_types::{ChangeBatch, DataType, DataTypes, Field};
use proptest::prelude::*;

fn fields() -> Vec<Field> {
    vec![
        Field::new("id", DataTypes::bigint()),
        Field::new("name", DataTypes::string()),
    ]
}

/// The readers of a table with two columns in `path`.
fn scan_columns(
    path: &Path,
    options: &[(&str, &str)],
    columns: Vec<ScanColumn>,
) -> Result<SourceFactory, TableError> {
    let mut all: TableOptions = options.iter().copied().collect();
    all.set("connector", "filesystem");
    all.set("path", path.display().to_string());
    let registry = crate::registry();
    let context = FactoryContext {
        identifier: &ObjectIdentifier::of("c", "d", "t"),
        schema: &ResolvedSchema::physical(fields()),
        options: &all,
        partition_keys: &[],
        registry: &registry,
    };
    let source = registry.create_source(&context)?;
    let provider = source.scan(&ScanContext {
        table: "t".to_string(),
        columns,
    })?;
    Ok(provider.factory)
}

fn scan(path: &Path, options: &[(&str, &str)]) -> Result<SourceFactory, TableError> {
    let columns = fields().into_iter().enumerate();
    let columns = columns.map(|(index, field)| ScanColumn {
        name: field.name,
        data_type: field.data_type,
        kind: ScanColumnKind::Physical(index),
    });
    scan_columns(path, options, columns.collect())
}

type Reader = SourceHarness;

fn start(factory: &SourceFactory, workers: usize, state: Option<&MemoryState>) -> Vec<Reader> {
    let start = |worker| {
        let mut reader = SourceHarness::on_worker(factory(), worker, workers).unwrap();
        if let Some(state) = state {
            reader.restore(state).unwrap();
        }
        reader
    };
    (0..workers).map(start).collect()
}

fn rows_of(batches: Vec<ChangeBatch>, types: &[DataType], rows: &mut Vec<String>) {
    for batch in batches {
        rows.extend(batch.to_rows(types).iter().map(ToString::to_string));
    }
}

fn types() -> Vec<DataType> {
    fields().into_iter().map(|field| field.data_type).collect()
}

/// Polls until all readers are finished or waiting.
fn drain(readers: &mut [Reader], max_rows: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for reader in readers {
        loop {
            let (status, batches) = reader.poll::<ChangeBatch>(max_rows).unwrap();
            rows_of(batches, &types(), &mut rows);
            if status != SourceStatus::Ready {
                break;
            }
        }
    }
    rows.sort();
    rows
}

fn line(id: usize, json: bool) -> String {
    // Lines of different lengths, some of them long.
    let name = "x".repeat(id * 37 % 211);
    if json {
        format!("{{\"id\":{id},\"name\":\"{name}\"}}\n")
    } else {
        format!("{id},{name}\n")
    }
}

/// Files with `sizes` rows each; the rows they hold.
fn write_files(folder: &Path, sizes: &[usize], json: bool) -> Vec<String> {
    let mut rows = Vec::new();
    let mut id = 0;
    for (file, size) in sizes.iter().enumerate() {
        let mut text = String::new();
        for _ in 0..*size {
            text.push_str(&line(id, json));
            rows.push(format!("+I[{id}, {}]", "x".repeat(id * 37 % 211)));
            id += 1;
        }
        fs::write(folder.join(format!("{file}.txt")), text).unwrap();
    }
    rows.sort();
    rows
}

const CSV: &[(&str, &str)] = &[("format", "csv")];
const BARE_CSV: &[(&str, &str)] = &[("format", "csv"), ("csv.disable-quote-character", "true")];
const JSON: &[(&str, &str)] = &[("format", "json")];

#[test]
fn every_row_is_read_once_by_any_number_of_workers() {
    for (options, json) in [(CSV, false), (BARE_CSV, false), (JSON, true)] {
        let folder = tempfile::tempdir().unwrap();
        // The first file is large enough for several ranges.
        let expected = write_files(folder.path(), &[30_000, 0, 5, 700], json);
        for workers in [1, 2, 3] {
            let factory = scan(folder.path(), options).unwrap();
            let mut readers = start(&factory, workers, None);
            assert!(
                drain(&mut readers, 1000) == expected,
                "{options:?} {workers}"
            );
            if !std::ptr::eq(options, CSV) && workers > 1 {
                let idle = readers
                    .iter()
                    .filter(|r| r.context().metrics.records_out.load(Relaxed) == 0);
                assert_eq!(idle.count(), 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_row_is_lost_or_doubled_by_crashes(
        sizes in prop::collection::vec(0_usize..400, 1..4),
        large: bool,
        json: bool,
        runs in prop::collection::vec((1_usize..4, 0_usize..12, 0_usize..6), 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut sizes = sizes;
        if large {
            sizes.push(12_000);
        }
        let expected = write_files(folder.path(), &sizes, json);
        let factory = scan(folder.path(), if json { JSON } else { BARE_CSV }).unwrap();
        // Each run: so many polls, a checkpoint, more polls, a crash.
        let mut state: Option<MemoryState> = None;
        let mut rows = Vec::new();
        for (workers, before, after) in runs {
            let mut readers = start(&factory, workers, state.as_ref());
            let mut next = MemoryState::default();
            for reader in &mut readers {
                for _ in 0..before {
                    let (_, batches) = reader.poll::<ChangeBatch>(97).unwrap();
                    rows_of(batches, &types(), &mut rows);
                }
                reader.end_epoch().unwrap();
                reader.snapshot(&mut next).unwrap();
                for _ in 0..after {
                    reader.poll::<ChangeBatch>(50).unwrap();
                }
            }
            state = Some(next);
        }
        let mut readers = start(&factory, 2, state.as_ref());
        rows.extend(drain(&mut readers, 500));
        rows.sort();
        prop_assert!(rows == expected);
    }
}

#[test]
fn errors_name_file_line_and_value_in_any_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.json");
    let mut text = String::new();
    for id in 0..40_000 {
        text.push_str(&line(id, true));
        if id == 37_000 {
            text.push_str("{\"id\":\"bad\"}\n");
        }
    }
    fs::write(&path, text).unwrap();
    let factory = scan(&path, JSON).unwrap();
    let mut errors = Vec::new();
    for mut reader in start(&factory, 2, None) {
        loop {
            match reader.poll::<ChangeBatch>(10_000) {
                Ok((SourceStatus::Ready, _)) => {}
                Ok(_) => break,
                Err(error) => {
                    assert_eq!(error.code(), "source.record");
                    errors.push(error.to_string());
                    break;
                }
            }
        }
    }
    let expected = format!("{}:37002, column 'id', value '\"bad\"'", path.display());
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains(&expected), "{errors:?}");
    let ignoring = [("format", "json"), ("json.ignore-parse-errors", "true")];
    let mut readers = start(&scan(&path, &ignoring).unwrap(), 2, None);
    assert_eq!(drain(&mut readers, 5000).len(), 40_000);
    let skipped = readers
        .iter()
        .map(|r| r.context().metrics.skipped_records.load(Relaxed));
    assert_eq!(skipped.sum::<u64>(), 1);
}

#[test]
fn files_that_vanish_or_shrink_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("0.txt");
    write_files(folder.path(), &[5000], false);
    let factory = scan(folder.path(), CSV).unwrap();
    let mut readers = start(&factory, 1, None);
    readers[0].poll::<ChangeBatch>(10).unwrap();
    let mut state = MemoryState::default();
    readers[0].snapshot(&mut state).unwrap();
    let restore = || {
        let mut reader = SourceHarness::on_worker(factory(), 0, 1).unwrap();
        reader.restore(&state).unwrap_err()
    };
    fs::write(&path, "1,a\n").unwrap();
    let error = restore();
    assert_eq!(error.code(), "source.open");
    assert!(
        error.report().contains("0.txt") && error.report().contains("has 4 now"),
        "{}",
        error.report()
    );
    fs::remove_file(&path).unwrap();
    assert!(restore().report().contains("0.txt"));
}

#[test]
fn missing_paths_and_wrong_options_are_found_before_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let missing = scan(&folder.path().join("nowhere"), CSV).err().unwrap();
    assert_eq!(missing.code(), "io.not_found");
    assert!(missing.report().contains("nowhere"), "{missing:?}");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(
        scan(&file.join("x"), CSV)
            .err()
            .unwrap()
            .code()
            .starts_with("io.")
    );
    let code = |options: &[(&str, &str)]| scan(folder.path(), options).err().unwrap().code();
    assert_eq!(code(&[("format", "cvs")]), "validation.unknown_factory");
    assert_eq!(code(&[]), "validation.missing_option");
    assert_eq!(
        code(&[("format", "csv"), ("csv.field-delimiter", "||")]),
        "validation.invalid_option"
    );
    assert_eq!(
        code(&[("format", "csv"), ("source.monitor-interval", "0 s")]),
        "validation.invalid_option"
    );
    assert_eq!(
        code(&[("format", "csv"), ("source.path.regex-pattern", "(")]),
        "validation.invalid_option"
    );
    let path = Path::new("hdfs://host/x");
    assert_eq!(
        scan(path, CSV).err().unwrap().code(),
        "validation.invalid_option"
    );
}

#[test]
fn a_watched_folder_gives_each_new_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let watched = [("format", "csv"), ("source.monitor-interval", "1 ms")];
    let factory = scan(folder.path(), &watched).unwrap();
    let mut readers = start(&factory, 2, None);
    assert!(drain(&mut readers, 10).is_empty());
    let mut rows = Vec::new();
    let mut wait_for = |readers: &mut [Reader], count: usize| {
        while rows.len() < count {
            rows.extend(drain(readers, 10));
        }
        rows.len()
    };
    fs::write(folder.path().join("a"), "1,a\n").unwrap();
    fs::write(folder.path().join("b"), "2,b\n").unwrap();
    assert_eq!(wait_for(&mut readers, 2), 2);
    let mut state = MemoryState::default();
    for reader in &mut readers {
        reader.snapshot(&mut state).unwrap();
    }
    fs::write(folder.path().join("c"), "3,c\n").unwrap();
    let mut readers = start(&factory, 1, Some(&state));
    assert_eq!(wait_for(&mut readers, 3), 3);
    rows.sort();
    assert_eq!(rows, ["+I[1, a]", "+I[2, b]", "+I[3, c]"]);
}

#[test]
fn metadata_columns_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), "1,x\n2,y\n").unwrap();
    let column = |name: &str, data_type: DataType, kind| ScanColumn {
        name: name.to_string(),
        data_type,
        kind,
    };
    let metadata = |key: &str| ScanColumnKind::Metadata(key.to_string());
    let types = [
        DataTypes::string(),
        DataTypes::bigint(),
        DataTypes::bigint(),
        DataTypes::timestamp_ltz(3),
    ];
    let columns = vec![
        column("f", types[0].clone(), metadata("file.name")),
        column("id", types[1].clone(), ScanColumnKind::Physical(0)),
        column("s", types[2].clone(), metadata("file.size")),
        column("m", types[3].clone(), metadata("file.modification-time")),
    ];
    let factory = scan_columns(folder.path(), CSV, columns).unwrap();
    let (_, batches) = start(&factory, 1, None)[0].poll::<ChangeBatch>(10).unwrap();
    let rows = batches[0].to_rows(&types);
    assert!(
        rows[1].to_string().starts_with("+I[a.csv, 2, 8, 20"),
        "{}",
        rows[1]
    );
    let unknown = vec![column("f", types[0].clone(), metadata("file.nam"))];
    let error = scan_columns(folder.path(), CSV, unknown).err().unwrap();
    assert!(error.report().contains("file.name"), "{error:?}");
}

#[test]
fn columns_may_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), "1,x\n2,y\n").unwrap();
    let factory = scan_columns(folder.path(), CSV, Vec::new()).unwrap();
    let (_, batches) = start(&factory, 1, None)[0].poll::<ChangeBatch>(10).unwrap();
    assert_eq!(batches.iter().map(ChangeBatch::len).sum::<usize>(), 2);
}

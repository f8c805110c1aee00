//! Tests of the whole way: snapshot, files, manifest, restore.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::format::FileHeader;
use super::frame_reader::FrameReader;
use super::frame_writer::FrameWriter;
use super::*;
use crate::error::{Result, RuntimeError};
use crate::exchange::worker_of;
use crate::operator::{RecordSink, Snapshot, StateKind};

fn all() -> KeyFilter {
    Arc::new(|_| true)
}

fn keyed() -> StateSchema {
    StateSchema::keyed(ENCODING)
}

const ENCODING: &str = "u64 -> string, 1";

/// A hash that spreads keys over all workers.
fn hash_of(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Keyed state `counts` with the given keys, and list state `splits`.
fn snapshot(keys: impl IntoIterator<Item = u64>, split: &str) -> Snapshot {
    let keys: Vec<u64> = keys.into_iter().collect();
    let mut snapshot = Snapshot::new();
    snapshot.keyed("counts", ENCODING, move |sink| {
        keys.iter()
            .try_for_each(|key| sink.record(hash_of(*key), format!("value of {key}").as_bytes()))
    });
    snapshot.list("splits", "split name, 1", vec![split.as_bytes().to_vec()]);
    snapshot
}

/// Takes checkpoint `id` of operator `agg` with three workers.
fn take(storage: &CheckpointStorage, id: u64) -> Manifest {
    let target = storage.begin(id, 3).unwrap();
    let acks = (0..3)
        .map(|worker| {
            let keys = (0..30_000).filter(|key| key % 3 == worker);
            let snapshot = snapshot(keys, &format!("split {worker}"));
            storage
                .write_operator(&target, "agg", "count words", worker as usize, snapshot)
                .unwrap()
        })
        .collect();
    storage.complete(&target, id * 10, 7, acks).unwrap()
}

fn read_strings(mut reader: StateReader) -> Result<Vec<String>> {
    let mut found = Vec::new();
    while let Some(record) = reader.next()? {
        found.push(String::from_utf8(record.bytes.to_vec()).unwrap());
    }
    Ok(found)
}

fn storage_in(folder: &TempDir) -> CheckpointStorage {
    CheckpointStorage::new(Some(folder.path()), "word/count")
}

#[test]
fn any_number_of_workers_gets_each_key_once_and_all_operator_records() {
    let folder = TempDir::new().unwrap();
    let manifest = take(&storage_in(&folder), 1);
    assert!(manifest.folder().ends_with("word%2Fcount/chk-1"));
    assert_eq!(manifest.operators[0].states[0].files.len(), 3);
    assert!(manifest.size_bytes() > 30_000 * 15);
    let restored = RestoredState::open(manifest, false);
    for workers in [1, 2, 5] {
        let mut seen = BTreeSet::new();
        for worker in 0..workers {
            let state = restored.restore("agg", worker, workers).unwrap();
            assert_eq!(state.schema("counts"), Some(ENCODING));
            state
                .read("counts", |hash, bytes| {
                    let text = std::str::from_utf8(bytes).unwrap();
                    let key: u64 = text["value of ".len()..].parse().unwrap();
                    assert_eq!(hash, hash_of(key));
                    assert_eq!(worker_of(hash, workers), worker);
                    assert!(seen.insert(key), "key {key} twice");
                    Ok(())
                })
                .unwrap();
            let splits = state.list("splits").unwrap();
            assert_eq!(splits, [b"split 0", b"split 1", b"split 2"]);
        }
        assert_eq!(seen.len(), 30_000);
    }
    assert!(restored.restore("other", 0, 1).is_none());
    let mut reader = restored.reader("agg", "counts", all()).unwrap();
    let first = reader.next().unwrap().unwrap();
    assert_eq!((first.worker, first.bytes), (0, b"value of 0".as_slice()));
    assert!(restored.reader("agg", "other", all()).is_none());
    assert!(restored.reader("other", "counts", all()).is_none());
}

#[test]
fn empty_state_is_known_and_has_no_file() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    let target = storage.begin(1, 1).unwrap();
    let mut snapshot = Snapshot::new();
    snapshot.keyed("counts", ENCODING, |_| Ok(()));
    let ack = storage
        .write_operator(&target, "agg", "agg", 0, snapshot)
        .unwrap();
    let manifest = storage.complete(&target, 1, 1, vec![ack]).unwrap();
    assert_eq!(manifest.size_bytes(), 0);
    assert_eq!(fs::read_dir(manifest.folder()).unwrap().count(), 1);
    let restored = RestoredState::open(manifest, false);
    let state = restored.restore("agg", 0, 1).unwrap();
    assert!(state.has("counts") && !state.has("other"));
    let reader = restored.reader("agg", "counts", all()).unwrap();
    assert!(read_strings(reader).unwrap().is_empty());
}

#[test]
fn a_folder_without_manifest_is_no_checkpoint() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    assert!(storage.latest().unwrap().is_none());
    assert_eq!(storage.next_id().unwrap(), 1);
    take(&storage, 1);
    let target = storage.begin(2, 1).unwrap();
    storage
        .write_operator(&target, "agg", "agg", 0, snapshot([1], "a"))
        .unwrap();
    // The process ends here, between the state files and the manifest.
    fs::write(target.folder.join("manifest.json.tmp"), "{\"form").unwrap();
    assert_eq!(storage.latest().unwrap().unwrap().checkpoint_id, 1);
    assert_eq!(storage.next_id().unwrap(), 3);
    // The same number may be tried again; what was left is gone.
    let again = storage.begin(2, 1).unwrap();
    assert_eq!(fs::read_dir(&again.folder).unwrap().count(), 0);
    storage.abort(&again).unwrap();
    assert!(!again.folder.exists());
    assert_eq!(storage.begin(1, 1).unwrap_err().code(), "checkpoint.failed");
}

#[test]
fn the_newest_checkpoints_are_retained() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    for id in [1, 2, 9, 10] {
        take(&storage, id);
    }
    let incomplete = storage.begin(4, 1).unwrap();
    let running = storage.begin(11, 1).unwrap();
    storage.discard_older(2).unwrap();
    assert!(!incomplete.folder.exists() && running.folder.exists());
    let mut left: Vec<_> = fs::read_dir(running.folder.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["chk-10", "chk-11", "chk-9"]);
    assert_eq!(storage.latest().unwrap().unwrap().checkpoint_id, 10);
}

#[test]
fn a_corrupt_manifest_is_an_error_that_names_the_file() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    take(&storage, 1);
    let newest = take(&storage, 2);
    let path = newest.folder().join(MANIFEST_FILE);
    let good = fs::read_to_string(&path).unwrap();
    let check = |text: &str, code: &str| {
        fs::write(&path, text).unwrap();
        let error = storage.latest().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("chk-2/manifest.json"), "{error}");
    };
    check("", "checkpoint.manifest");
    check(&good[..good.len() / 2], "checkpoint.manifest");
    check(
        &good.replace("\"epoch\": 20", "\"epoch\": 21"),
        "checkpoint.manifest",
    );
    check(
        &good.replace("\"format_version\": 1", "\"format_version\": 9"),
        "checkpoint.version",
    );
    check(
        &good.replace("agg/counts.w0", "../counts.w0"),
        "checkpoint.manifest",
    );
}

#[test]
fn a_savepoint_may_be_moved_and_is_found_from_above() {
    let folder = TempDir::new().unwrap();
    let storage = CheckpointStorage::new(None, "job");
    assert_eq!(storage.begin(1, 1).unwrap_err().code(), "checkpoint.failed");
    let target = storage
        .begin_savepoint(5, &folder.path().join("saves"), 1)
        .unwrap();
    let ack = storage
        .write_operator(&target, "a/b", "agg", 0, snapshot([1, 2], "x"))
        .unwrap();
    storage.complete(&target, 50, 1, vec![ack]).unwrap();
    let moved = folder.path().join("elsewhere");
    fs::rename(&target.folder, &moved).unwrap();
    for path in [moved.clone(), moved.join(MANIFEST_FILE)] {
        let manifest = CheckpointStorage::open(&path).unwrap();
        assert_eq!(
            (manifest.kind, manifest.epoch),
            (CheckpointKind::Savepoint, 50)
        );
        let reader = RestoredState::open(manifest, false)
            .reader("a/b", "counts", all())
            .unwrap();
        assert_eq!(read_strings(reader).unwrap(), ["value of 1", "value of 2"]);
    }
    let other = storage_in(&folder);
    take(&other, 3);
    let found = CheckpointStorage::open(&folder.path().join("word%2Fcount")).unwrap();
    assert_eq!(found.checkpoint_id, 3);
    let error = CheckpointStorage::open(&folder.path().join("saves")).unwrap_err();
    assert_eq!(error.code(), "checkpoint.not_found");
    let error = CheckpointStorage::open(Path::new("/no/such/folder")).unwrap_err();
    assert_eq!(error.code(), "checkpoint.not_found");
}

#[test]
fn operators_that_do_not_fit_the_job_are_named_at_once() {
    let folder = TempDir::new().unwrap();
    let manifest = take(&storage_in(&folder), 1);
    let restored = RestoredState::open(manifest.clone(), false);
    restored.check(&["agg"].into()).unwrap();
    restored.check(&["agg", "new"].into()).unwrap();
    let error = restored.check(&["new"].into()).unwrap_err();
    assert_eq!(error.code(), "checkpoint.incompatible");
    for part in [
        "chk-1",
        "no operator of the job has uid 'agg' (it was 'count words')",
        "operator 'new' of the job is not in it",
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    RestoredState::open(manifest, true)
        .check(&["new"].into())
        .unwrap();
}

#[test]
fn states_that_the_operator_does_not_ask_for_are_named() {
    let folder = TempDir::new().unwrap();
    let manifest = take(&storage_in(&folder), 1);
    let state = RestoredState::open(manifest.clone(), false)
        .restore("agg", 0, 1)
        .unwrap();
    state.read("counts", |_, _| Ok(())).unwrap();
    let error = state.check_claimed().unwrap_err();
    assert_eq!(error.code(), "checkpoint.incompatible");
    assert!(
        error
            .to_string()
            .contains("operator 'agg' has no state 'splits' in the job"),
        "{error}"
    );
    state.list("splits").unwrap();
    state.check_claimed().unwrap();
    let state = RestoredState::open(manifest, true)
        .restore("agg", 0, 1)
        .unwrap();
    state.check_claimed().unwrap();
}

#[test]
fn keys_that_were_routed_otherwise_are_refused() {
    let folder = TempDir::new().unwrap();
    let mut manifest = take(&storage_in(&folder), 1);
    manifest.routing_fingerprint ^= 1;
    let restored = RestoredState::open(manifest, true);
    let error = restored.check(&["agg"].into()).unwrap_err();
    assert_eq!(error.code(), "checkpoint.incompatible");
}

#[test]
fn contradicting_acks_are_refused() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    let target = storage.begin(1, 2).unwrap();
    let ack = |worker: usize, kind: StateKind| {
        let mut snapshot = Snapshot::new();
        match kind {
            StateKind::Keyed => snapshot.keyed("counts", "x", |sink| sink.record(1, &[2])),
            StateKind::List => snapshot.list("counts", "x", vec![vec![2]]),
        }
        storage
            .write_operator(&target, "agg", "agg", worker, snapshot)
            .unwrap()
    };
    for acks in [
        vec![ack(0, StateKind::Keyed), ack(0, StateKind::Keyed)],
        vec![ack(0, StateKind::Keyed), ack(1, StateKind::List)],
        vec![ack(2, StateKind::Keyed)],
    ] {
        let error = storage.complete(&target, 1, 1, acks).unwrap_err();
        assert_eq!(error.code(), "checkpoint.inconsistent");
    }
    assert!(storage.latest().unwrap().is_none());
}

#[test]
fn errors_of_the_encoding_closure_come_out() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    let target = storage.begin(1, 2).unwrap();
    let mut bad = Snapshot::new();
    bad.keyed("bad", ENCODING, |_| {
        Err(RuntimeError::user("no codec for this key"))
    });
    let error = storage
        .write_operator(&target, "agg", "count words", 1, bad)
        .unwrap_err();
    assert_eq!(error.to_string(), "no codec for this key");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_clear_error() {
    let folder = TempDir::new().unwrap();
    let storage = storage_in(&folder);
    let target = storage.begin(1, 2).unwrap();
    let file = target.folder.join("agg/counts.w1");
    fs::create_dir(file.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", &file).unwrap();
    let error = storage
        .write_operator(&target, "agg", "count words", 1, snapshot([1], "a"))
        .unwrap_err();
    assert_eq!(error.code(), "checkpoint.write");
    let text = error.to_string();
    assert!(
        text.contains("cannot write") && text.contains("counts.w1"),
        "{text}"
    );
    assert!(text.contains("No space left on device"), "{text}");
    assert!(storage.latest().unwrap().is_none());
}

#[test]
fn a_failing_output_is_reported_with_its_path() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let header = header();
    let mut full = Full;
    let mut writer = FrameWriter::new(&mut full, Path::new("/x/y.w0"), &header);
    writer.record(1, b"a").unwrap();
    let error = writer.finish().unwrap_err();
    assert_eq!(error.code(), "checkpoint.write");
    assert!(error.to_string().contains("/x/y.w0"), "{error}");
}

fn header() -> FileHeader {
    FileHeader {
        job: "job".to_owned(),
        uid: "agg".to_owned(),
        operator: "agg".to_owned(),
        state: "counts".to_owned(),
        schema: keyed(),
        worker: 0,
        workers: 1,
    }
}

fn write(records: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let header = header();
    let mut bytes = Vec::new();
    let mut writer = FrameWriter::new(&mut bytes, Path::new("memory"), &header);
    for (hash, record) in records {
        writer.record(*hash, record).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn read(bytes: Vec<u8>) -> Result<Vec<(u64, Vec<u8>)>> {
    let length = bytes.len() as u64;
    let mut reader = FrameReader::open(
        Box::new(io::Cursor::new(bytes)),
        Path::new("memory"),
        length,
        None,
    )?;
    let mut found = Vec::new();
    while reader.advance()? {
        found.push((reader.hash(), reader.record().to_vec()));
    }
    Ok(found)
}

#[test]
fn broken_files_say_what_is_wrong() {
    let good = write(&[
        (1, b"a".to_vec()),
        (2, vec![7; 100_000]),
        (3, b"c".to_vec()),
    ]);
    assert_eq!(read(good.clone()).unwrap().len(), 3);
    let check = |bytes: Vec<u8>, code: &str| {
        let error = read(bytes).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    };
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    check(Vec::new(), "checkpoint.truncated");
    check(with(0, b"PARQUET1"), "checkpoint.not_a_state_file");
    check(with(8, &2u32.to_le_bytes()), "checkpoint.version");
    check(with(12, &u32::MAX.to_le_bytes()), "checkpoint.truncated");
    check(with(good.len() / 2, b"x"), "checkpoint.corrupt");
    check(
        with(good.len() - 1, &[good[good.len() - 1] ^ 1]),
        "checkpoint.corrupt",
    );
    check([good.clone(), vec![0]].concat(), "checkpoint.corrupt");
    for cut in [1, 16, 17, 1000, good.len() - 30] {
        check(good[..good.len() - cut].to_vec(), "checkpoint.truncated");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn records_read_back(records in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..300)), 1..600)) {
        prop_assert_eq!(read(write(&records)).unwrap(), records);
    }

    #[test]
    fn a_changed_byte_never_gives_other_data(
        sizes in prop::collection::vec(0usize..40_000, 1..6),
        at: prop::sample::Index,
        flip in 1u8..,
    ) {
        let records: Vec<_> = sizes.iter().enumerate().map(|(i, size)| (i as u64, vec![i as u8; *size])).collect();
        let mut bytes = write(&records);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let result = read(bytes);
        prop_assert!(result.is_err(), "byte {} of the file is not covered", at);
    }

    #[test]
    fn a_changed_manifest_is_refused_or_the_same(at: prop::sample::Index, flip in 1u8..) {
        let folder = TempDir::new().unwrap();
        let storage = storage_in(&folder);
        let target = storage.begin(1, 1).unwrap();
        let ack = storage.write_operator(&target, "agg", "agg", 0, snapshot([1], "a")).unwrap();
        let manifest = storage.complete(&target, 3, 4, vec![ack]).unwrap();
        let path = manifest.folder().join(MANIFEST_FILE);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        fs::write(&path, bytes).unwrap();
        if let Ok(read) = CheckpointStorage::open(&target.folder) {
            prop_assert_eq!(read, manifest);
        }
    }
}

#[test]
fn files_that_were_exchanged_are_noticed() {
    let folder = TempDir::new().unwrap();
    let manifest = take(&storage_in(&folder), 1);
    let agg = manifest.folder().join("agg");
    let outcomes: BTreeMap<&str, &str> = [
        ("counts.w1", "checkpoint.corrupt"),
        ("splits.w0", "checkpoint.corrupt"),
    ]
    .into();
    for (other, code) in outcomes {
        let bytes = fs::read(agg.join("counts.w0")).unwrap();
        fs::copy(agg.join(other), agg.join("counts.w0")).unwrap();
        let reader = RestoredState::open(manifest.clone(), false)
            .reader("agg", "counts", all())
            .unwrap();
        assert_eq!(read_strings(reader).unwrap_err().code(), code);
        fs::write(agg.join("counts.w0"), bytes).unwrap();
    }
    fs::remove_file(agg.join("counts.w2")).unwrap();
    let reader = RestoredState::open(manifest, false)
        .reader("agg", "counts", all())
        .unwrap();
    let error = read_strings(reader).unwrap_err();
    assert_eq!(error.code(), "io.failed");
    assert!(error.to_string().contains("counts.w2"), "{error}");
}

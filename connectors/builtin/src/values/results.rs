//! What a `values` sink has got.

use std::collections::BTreeMap;

use aquifer_types::{Row, RowKind, Value};

/// The changes that reached a sink, and what they leave.
#[derive(Clone, Debug, Default)]
pub struct ValuesResult {
    entries: Vec<Entry>,
    key: Vec<usize>,
}

/// The changes of one epoch on one worker.
#[derive(Clone, Debug)]
struct Entry {
    /// How often the job had been restarted.
    attempt: u32,
    epoch: u64,
    worker: usize,
    rows: Vec<Row>,
}

impl ValuesResult {
    /// All changes: by epoch, then by worker, then as they came.
    pub fn changelog(&self) -> Vec<Row> {
        self.epochs()
            .into_iter()
            .flat_map(|(_, rows)| rows)
            .collect()
    }

    /// The changes of each epoch that had any, with the epoch. The epochs after a restart come after
    /// those before, whatever their numbers.
    pub fn epochs(&self) -> Vec<(u64, Vec<Row>)> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.attempt, entry.epoch, entry.worker));
        let same = |a: &&Entry, b: &&Entry| (a.attempt, a.epoch) == (b.attempt, b.epoch);
        let rows = |entries: &[&Entry]| {
            entries
                .iter()
                .flat_map(|entry| entry.rows.clone())
                .collect()
        };
        entries
            .chunk_by(same)
            .map(|entries| (entries[0].epoch, rows(entries)))
            .collect()
    }

    /// The rows that the changes leave, sorted: by key if the sink has one, else as a multiset. The
    /// rows are `+I`.
    ///
    /// # Panics
    /// When a change takes back a row that is not there.
    pub fn materialized(&self) -> Vec<Row> {
        if self.key.is_empty() {
            self.as_multiset()
        } else {
            self.by_key()
        }
    }

    fn by_key(&self) -> Vec<Row> {
        let mut rows: BTreeMap<Vec<Value>, Row> = BTreeMap::new();
        for row in self.changelog() {
            let key: Vec<Value> = self
                .key
                .iter()
                .map(|field| row.fields()[*field].clone())
                .collect();
            match row.kind() {
                RowKind::Insert | RowKind::UpdateAfter => {
                    rows.insert(key, row.with_kind(RowKind::Insert));
                }
                RowKind::UpdateBefore => {}
                RowKind::Delete => {
                    let gone = rows.remove(&key);
                    assert!(gone.is_some(), "{row} takes back a row that is not there");
                }
            }
        }
        rows.into_values().collect()
    }

    fn as_multiset(&self) -> Vec<Row> {
        let mut counts: BTreeMap<Vec<Value>, i64> = BTreeMap::new();
        for (epoch, rows) in self.epochs() {
            for row in rows {
                *counts.entry(row.fields().to_vec()).or_default() += row.kind().weight();
            }
            // Within an epoch the changes of several workers have no order.
            let missing = counts.iter().find(|(_, count)| **count < 0);
            assert!(
                missing.is_none(),
                "epoch {epoch} takes back a row that is not there: {missing:?}"
            );
        }
        counts
            .into_iter()
            .flat_map(|(fields, count)| (0..count).map(move |_| Row::of(fields.clone())))
            .collect()
    }

    pub(crate) fn set_key(&mut self, key: &[usize]) {
        self.key = key.to_vec();
    }

    pub(crate) fn push(&mut self, attempt: u32, epoch: u64, worker: usize, rows: Vec<Row>) {
        self.entries.push(Entry {
            attempt,
            epoch,
            worker,
            rows,
        });
    }

    /// The number of entries of a worker.
    pub(crate) fn entries_of(&self, worker: usize) -> usize {
        self.entries
            .iter()
            .filter(|entry| entry.worker == worker)
            .count()
    }

    /// Keeps the first entries of the workers that `is_own` names: as many as `kept` says.
    pub(crate) fn roll_back(
        &mut self,
        is_own: impl Fn(usize) -> bool,
        kept: &BTreeMap<usize, usize>,
    ) {
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        self.entries.retain(|entry| {
            let seen = seen.entry(entry.worker).or_default();
            *seen += 1;
            !is_own(entry.worker) || *seen <= kept.get(&entry.worker).copied().unwrap_or(0)
        });
    }
}

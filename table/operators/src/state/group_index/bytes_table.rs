//! Keys as byte strings, in one arena.

use aquifer_runtime::exchange::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{NO_GROUP, next_group};
use crate::state::hash::{TABLE_SEED, hash_bytes};

/// Where a key's bytes lie, and their hash, so that neither growth nor most mismatches touch the arena.
#[derive(Clone, Copy)]
pub(super) struct Span {
    hash: u64,
    start: u64,
    length: u32,
}

/// Keys as bytes; a NULL key (only of the single-column forms) has its group outside the table.
pub(super) struct BytesTable {
    pub(super) table: HashTable<u32>,
    pub(super) spans: Vec<Span>,
    arena: Vec<u8>,
    /// Bytes in the arena of removed groups.
    dead: usize,
    pub(super) null_group: Option<u32>,
    state: FixedState,
}

impl Default for BytesTable {
    fn default() -> Self {
        BytesTable {
            table: HashTable::new(),
            spans: Vec::new(),
            arena: Vec::new(),
            dead: 0,
            null_group: None,
            state: FixedState::with_seed(TABLE_SEED),
        }
    }
}

#[inline]
fn span_bytes(arena: &[u8], span: Span) -> &[u8] {
    &arena[span.start as usize..][..span.length as usize]
}

impl BytesTable {
    pub(super) fn assign<'a>(
        &mut self,
        rows: usize,
        key: impl Fn(usize) -> Option<&'a [u8]>,
        free: &mut Vec<u32>,
        out: &mut Vec<u32>,
    ) {
        let BytesTable {
            table,
            spans,
            arena,
            null_group,
            state,
            ..
        } = self;
        for row in 0..rows {
            let Some(bytes) = key(row) else {
                let group = *null_group.get_or_insert_with(|| {
                    let group = next_group(free, spans.len());
                    put_span(
                        spans,
                        group,
                        Span {
                            hash: 0,
                            start: 0,
                            length: 0,
                        },
                    );
                    group
                });
                out.push(group);
                continue;
            };
            let hash = hash_bytes(state, bytes);
            let entry = table.entry(
                hash,
                |group| {
                    let span = spans[*group as usize];
                    span.hash == hash && span_bytes(arena, span) == bytes
                },
                |group| spans[*group as usize].hash,
            );
            out.push(match entry {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let group = next_group(free, spans.len());
                    let length =
                        u32::try_from(bytes.len()).expect("Arrow's text and rows are below 4 GiB");
                    put_span(
                        spans,
                        group,
                        Span {
                            hash,
                            start: arena.len() as u64,
                            length,
                        },
                    );
                    arena.extend_from_slice(bytes);
                    entry.insert(group);
                    group
                }
            });
        }
    }

    pub(super) fn find<'a>(
        &self,
        rows: usize,
        key: impl Fn(usize) -> Option<&'a [u8]>,
        out: &mut Vec<u32>,
    ) {
        out.extend((0..rows).map(|row| {
            let Some(bytes) = key(row) else {
                return self.null_group.unwrap_or(NO_GROUP);
            };
            let hash = hash_bytes(&self.state, bytes);
            let same = |group: &u32| {
                let span = self.spans[*group as usize];
                span.hash == hash && span_bytes(&self.arena, span) == bytes
            };
            self.table.find(hash, same).copied().unwrap_or(NO_GROUP)
        }));
    }

    pub(super) fn remove(&mut self, groups: &[u32]) {
        for group in groups {
            if self.null_group == Some(*group) {
                self.null_group = None;
                continue;
            }
            let span = self.spans[*group as usize];
            if let Ok(entry) = self.table.find_entry(span.hash, |g| g == group) {
                entry.remove();
                self.dead += span.length as usize;
            }
        }
        if self.dead > self.arena.len() / 2 && self.dead > 4096 {
            let mut arena = Vec::with_capacity(self.arena.len() - self.dead);
            for group in &self.table {
                let span = &mut self.spans[*group as usize];
                let start = arena.len() as u64;
                arena.extend_from_slice(span_bytes(&self.arena, *span));
                span.start = start;
            }
            self.arena = arena;
            self.dead = 0;
        }
    }

    pub(super) fn key(&self, group: u32) -> Option<&[u8]> {
        (self.null_group != Some(group))
            .then(|| span_bytes(&self.arena, self.spans[group as usize]))
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.table.allocation_size()
            + self.spans.capacity() * size_of::<Span>()
            + self.arena.capacity()
    }
}

fn put_span(spans: &mut Vec<Span>, group: u32, span: Span) {
    if group as usize == spans.len() {
        spans.push(span);
    } else {
        spans[group as usize] = span;
    }
}

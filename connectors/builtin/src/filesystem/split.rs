//! Splits: the pieces of files that workers share.
//!
//! Who reads a split follows from its path and number alone, so all workers agree without talking.
//! The ranges of one file go to the workers in turn.

use aquifer_runtime::exchange::{key_hash, worker_of};
use serde::{Deserialize, Serialize};

use super::listing::FoundFile;

/// Ranges are not smaller than this.
const MIN_RANGE_BYTES: u64 = 1 << 20;
/// A file has not more ranges than this, because the position of each is kept.
const MAX_RANGES: u64 = 256;

/// A piece of a file, and how far it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Split {
    /// The file.
    pub(super) path: String,
    /// The number among the file's splits.
    pub(super) index: usize,
    /// The first byte. The records of the split are those that begin at a line whose first byte is
    /// in the range.
    pub(super) start: u64,
    /// The byte behind the last; the file's end if there is none.
    pub(super) end: Option<u64>,
    /// The size of the file when it was found.
    pub(super) size: u64,
    /// When the file was changed, in milliseconds since 1970.
    pub(super) modified_ms: i64,
    /// How far it was read.
    pub(super) progress: Progress,
}

/// How far a split was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Progress {
    /// Not at all.
    New,
    /// Up to a record.
    At {
        /// The first byte of the next record.
        offset: u64,
        /// Its line, from 1 at the first record of the split.
        line: u64,
    },
    /// To its end.
    Done,
}

impl Split {
    /// The splits of a file. `in_ranges`: it may be read in ranges.
    pub(super) fn of(file: &FoundFile, in_ranges: bool) -> Vec<Split> {
        let range = (file.size / MAX_RANGES).max(MIN_RANGE_BYTES);
        let count = if in_ranges {
            file.size.div_ceil(range).max(1)
        } else {
            1
        };
        let split = |index: u64| Split {
            path: file.path.clone(),
            index: index as usize,
            start: index * range,
            end: (index + 1 < count).then(|| (index + 1) * range),
            size: file.size,
            modified_ms: file.modified_ms,
            progress: Progress::New,
        };
        (0..count).map(split).collect()
    }

    /// The worker that reads the split.
    pub(super) fn owner(&self, parallelism: usize) -> usize {
        (worker_of(key_hash(self.path.as_str()), parallelism) + self.index) % parallelism
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_file_and_are_shared_evenly() {
        for size in [
            0,
            1,
            MIN_RANGE_BYTES,
            10 * MIN_RANGE_BYTES + 1,
            10_000 * MIN_RANGE_BYTES,
        ] {
            let file = FoundFile {
                path: format!("f{size}"),
                size,
                modified_ms: 0,
            };
            let splits = Split::of(&file, true);
            assert_eq!(splits[0].start, 0);
            assert_eq!(splits.last().unwrap().end, None);
            for pair in splits.windows(2) {
                assert_eq!(pair[0].end, Some(pair[1].start));
                assert!(pair[1].start < size);
            }
            assert!(splits.len() as u64 <= MAX_RANGES);
            let mut counts = [0; 3];
            splits.iter().for_each(|split| counts[split.owner(3)] += 1);
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
            assert_eq!(Split::of(&file, false).len(), 1);
        }
    }
}

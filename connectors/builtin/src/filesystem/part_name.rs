//! Names of part files: `part-<uid>-<lineage>-<worker>-<number>`, and while a file is not committed
//! `.part-...inprogress`, which readers of the folder skip.
//!
//! The *lineage* tells the files of one job, over all its restarts, from those of others that write
//! to the same folder under the same uid.

use std::path::{Path, PathBuf};

const PREFIX: &str = "part-";
const IN_PROGRESS: &str = ".inprogress";
/// How much of the uid a name holds.
const MAX_UID: usize = 40;

/// The name of one part file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartName {
    pub(super) uid: String,
    pub(super) lineage: String,
    pub(super) worker: usize,
    pub(super) number: u64,
}

impl PartName {
    /// The name once the file is committed.
    pub(super) fn committed(&self) -> String {
        let PartName {
            uid,
            lineage,
            worker,
            number,
        } = self;
        format!("{PREFIX}{uid}-{lineage}-{worker}-{number}")
    }

    /// The name until then.
    pub(super) fn in_progress(&self) -> String {
        format!(".{}{IN_PROGRESS}", self.committed())
    }

    pub(super) fn committed_path(&self, folder: &Path) -> PathBuf {
        folder.join(self.committed())
    }

    pub(super) fn in_progress_path(&self, folder: &Path) -> PathBuf {
        folder.join(self.in_progress())
    }

    /// Reads a name of either kind.
    pub(super) fn parse(name: &str) -> Option<PartName> {
        let name = match name.strip_prefix('.') {
            Some(hidden) => hidden.strip_suffix(IN_PROGRESS)?,
            None => name,
        };
        let mut parts = name.strip_prefix(PREFIX)?.rsplitn(4, '-');
        let number = parts.next()?.parse().ok()?;
        let worker = parts.next()?.parse().ok()?;
        let lineage = parts.next()?.to_string();
        let uid = parts.next()?.to_string();
        Some(PartName {
            uid,
            lineage,
            worker,
            number,
        })
    }

    /// A uid as names hold it.
    pub(super) fn uid_text(uid: &str) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        };
        uid.chars().take(MAX_UID).map(plain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let name = PartName {
            uid: PartName::uid_text("5_stream-exec/sink ä"),
            lineage: "0a1b".to_string(),
            worker: 3,
            number: 12,
        };
        assert_eq!(name.committed(), "part-5_stream-exec-sink---0a1b-3-12");
        assert_eq!(PartName::parse(&name.committed()), Some(name.clone()));
        assert_eq!(PartName::parse(&name.in_progress()), Some(name));
        for other in [
            "part-1",
            "x",
            ".part-u-l-1-2",
            "part-u-l-a-2",
            ".inprogress",
        ] {
            assert_eq!(PartName::parse(other), None, "{other}");
        }
    }
}

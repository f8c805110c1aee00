//! Finds the files under a path.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use aquifer_table_common::error::IoError;
use regex::Regex;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Its path; text, because it is part of the state.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) size: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub(super) modified_ms: i64,
}

/// Where files are looked for.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The file or folder.
    pub(super) root: PathBuf,
    /// What the whole path of a file must match.
    pub(super) pattern: Option<Regex>,
}

impl Place {
    /// The file `root`, or all files in the folder `root` and the folders in it, sorted by path.
    /// Names that begin with `.` or `_` are skipped, but not `root` itself.
    pub(super) fn list(&self) -> Result<Vec<FoundFile>, IoError> {
        let mut files = list(&self.root)?;
        if let Some(pattern) = &self.pattern {
            files.retain(|file| pattern.is_match(&file.path));
        }
        Ok(files)
    }
}

fn list(root: &Path) -> Result<Vec<FoundFile>, IoError> {
    let mut files = Vec::new();
    let metadata = fs::metadata(root).map_err(|error| io_error("read", root, error))?;
    if metadata.is_dir() {
        walk(root, &mut files)?;
    } else {
        files.push(found(root, &metadata)?);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<FoundFile>) -> Result<(), IoError> {
    let entries = fs::read_dir(folder).map_err(|error| io_error("list", folder, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| io_error("list", folder, error))?;
        let name = entry.file_name();
        if name
            .as_encoded_bytes()
            .first()
            .is_none_or(|first| matches!(first, b'.' | b'_'))
        {
            continue;
        }
        let path = entry.path();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => walk(&path, files)?,
            Ok(metadata) => files.push(found(&path, &metadata)?),
            // It was removed since it was listed, so it is not there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(io_error("read", &path, error)),
        }
    }
    Ok(())
}

fn found(path: &Path, metadata: &fs::Metadata) -> Result<FoundFile, IoError> {
    let Some(text) = path.to_str() else {
        let error = std::io::Error::new(std::io::ErrorKind::InvalidData, "its name is not UTF-8");
        return Err(io_error("read", path, error));
    };
    let modified = metadata.modified().ok();
    let since = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    Ok(FoundFile {
        path: text.to_string(),
        size: metadata.len(),
        modified_ms: since.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        }),
    })
}

fn io_error(action: &'static str, path: &Path, error: std::io::Error) -> IoError {
    IoError::new(action, PathBuf::from(path).display().to_string(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_order_without_hidden_ones() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "b.csv", "a/2.csv", "a/1.csv", ".hidden", "_tmp/x", "a/.c", "c_.csv",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let show = |files: Vec<FoundFile>| -> Vec<String> {
            let relative = |file: FoundFile| {
                let path = Path::new(&file.path).strip_prefix(root.path());
                path.unwrap().display().to_string()
            };
            files.into_iter().map(relative).collect()
        };
        let all = list(root.path()).unwrap();
        assert_eq!(show(all), ["a/1.csv", "a/2.csv", "b.csv", "c_.csv"]);
        let place = Place {
            root: root.path().to_path_buf(),
            pattern: Some(Regex::new("^(?:.*/a/.*)$").unwrap()),
        };
        assert_eq!(show(place.list().unwrap()), ["a/1.csv", "a/2.csv"]);
        let one = list(&root.path().join(".hidden")).unwrap();
        assert_eq!(show(one), [".hidden"]);
        let missing = list(&root.path().join("no")).unwrap_err();
        assert_eq!(missing.code(), "io.not_found");
        assert!(missing.to_string().contains("/no'"), "{missing}");
        let inside_file = list(&root.path().join("b.csv/x")).unwrap_err();
        assert!(inside_file.to_string().contains("b.csv/x"), "{inside_file}");
    }
}

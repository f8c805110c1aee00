//! Finds the job's program before anything is started, so that a wrong path is one clear error and not one
//! per process.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{LauncherError, Result};

/// The file of `program`: itself if it has a `/`, else the first executable of that name in `PATH`, as a
/// shell does.
pub(crate) fn find(program: &OsStr) -> Result<PathBuf> {
    find_in(program, env::var_os("PATH").as_deref())
}

fn find_in(program: &OsStr, search_path: Option<&OsStr>) -> Result<PathBuf> {
    let not_found = || LauncherError::ProgramNotFound {
        program: program.to_string_lossy().into_owned(),
    };
    if program.as_encoded_bytes().contains(&b'/') {
        let path = PathBuf::from(program);
        return check(&path)
            .unwrap_or_else(|| Err(not_found()))
            .map(|()| path);
    }
    let mut refused = None;
    for folder in search_path.iter().flat_map(env::split_paths) {
        let path = folder.join(program);
        match check(&path) {
            Some(Ok(())) => return Ok(path),
            Some(Err(error)) => refused = refused.or(Some(error)),
            None => {}
        }
    }
    Err(refused.unwrap_or_else(not_found))
}

/// `None` if there is no such file.
fn check(path: &Path) -> Option<Result<()>> {
    let refuse = |reason: String| {
        Some(Err(LauncherError::ProgramNotExecutable {
            path: path.to_owned(),
            reason,
        }))
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => refuse("it is a folder".to_owned()),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => {
            refuse("it has no execute permission".to_owned())
        }
        Ok(_) => Some(Ok(())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => refuse(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn code(result: Result<PathBuf>) -> &'static str {
        result.unwrap_err().code()
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let job = make(folder.path(), "job", 0o755);
        let plain = make(folder.path(), "plain", 0o644);
        assert_eq!(find_in(job.as_os_str(), None).unwrap(), job);
        assert_eq!(
            code(find_in(plain.as_os_str(), None)),
            "launcher.program_not_executable"
        );
        assert_eq!(
            code(find_in(folder.path().as_os_str(), None)),
            "launcher.program_not_executable"
        );
        let missing = folder.path().join("missing");
        assert_eq!(
            code(find_in(missing.as_os_str(), None)),
            "launcher.program_not_found"
        );
    }

    #[test]
    fn a_name_is_searched() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        make(first.path(), "job", 0o644);
        let job = make(second.path(), "job", 0o755);
        let path = env::join_paths([first.path(), second.path()]).unwrap();
        assert_eq!(find_in(OsStr::new("job"), Some(&path)).unwrap(), job);
        assert_eq!(
            code(find_in(OsStr::new("job"), Some(first.path().as_os_str()))),
            "launcher.program_not_executable"
        );
        assert_eq!(
            code(find_in(OsStr::new("jobb"), Some(&path))),
            "launcher.program_not_found"
        );
    }
}

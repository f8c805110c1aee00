//! The secret by which the processes know each other. It goes from here into their environment only.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LauncherError, Result};

/// Where the processes get their shared secret from.
pub(crate) enum Secret {
    /// A value that lives as long as one start of the set.
    Fresh(String),
    /// The user's file, as an absolute path; the processes read it themselves, so that the value is in no
    /// environment.
    File(PathBuf),
}

impl Secret {
    /// The user's file if there is one, checked, else 32 random bytes.
    pub(crate) fn new(file: Option<&Path>) -> Result<Self> {
        match file {
            Some(path) => from_file(path).map_err(|reason| LauncherError::SecretFile {
                path: path.to_owned(),
                reason,
            }),
            None => fresh(),
        }
    }

    /// The environment variable that carries it, and its value.
    pub(crate) fn variable(&self) -> (&'static str, &std::ffi::OsStr) {
        match self {
            Self::Fresh(value) => ("AQUIFER_SECRET", value.as_ref()),
            Self::File(path) => ("AQUIFER_SECRET_FILE", path.as_ref()),
        }
    }
}

fn from_file(path: &Path) -> Result<Secret, String> {
    let content = fs::read(path).map_err(|error| error.to_string())?;
    if content.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let path = fs::canonicalize(path).map_err(|error| error.to_string())?;
    Ok(Secret::File(path))
}

fn fresh() -> Result<Secret> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| LauncherError::Random {
        reason: error.to_string(),
    })?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    Ok(Secret::Fresh(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_secrets_are_long_and_differ() {
        let [first, second] = [0, 1].map(|_| Secret::new(None).unwrap());
        let (name, value) = first.variable();
        assert_eq!((name, value.len()), ("AQUIFER_SECRET", 64));
        assert_ne!(value, second.variable().1);
    }

    #[test]
    fn an_empty_or_missing_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let code = |path: &Path| Secret::new(Some(path)).err().unwrap().code();
        assert_eq!(code(&path), "launcher.secret_file");
        fs::write(&path, " \n").unwrap();
        assert_eq!(code(&path), "launcher.secret_file");
        fs::write(&path, "correct horse\n").unwrap();
        let secret = Secret::new(Some(&path)).unwrap();
        assert_eq!(secret.variable().0, "AQUIFER_SECRET_FILE");
    }
}

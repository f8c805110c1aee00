//! The shared secret of a cluster.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::error::{Result, WithPath};

use super::ClusterError;

/// A secret that never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret from bytes.
    ///
    /// # Errors
    /// `cluster.argument` when it is empty; `origin` says where it comes from.
    pub fn new(bytes: impl Into<Vec<u8>>, origin: &str) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(ClusterError::Argument {
                argument: origin.to_owned(),
                reason: "the secret is empty".to_owned(),
            }
            .into());
        }
        Ok(Self(bytes))
    }

    /// A secret from a file; white space around it does not count.
    ///
    /// # Errors
    /// `io.failed`, `cluster.argument` when the file is empty.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).with_path(path)?;
        Self::new(
            bytes.trim_ascii(),
            &format!("secret file '{}'", path.display()),
        )
    }

    /// The secret itself.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(******)")
    }
}

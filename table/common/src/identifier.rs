//! Names of catalog objects: `catalog.database.object`.
//!
//! A path is written with dots; a part that is not a plain word stands in back-quotes, and a
//! back-quote inside it is doubled. Names are case sensitive.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Result, ValidationErrorKind};

/// The full path of an object in a catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectIdentifier {
    /// The catalog.
    pub catalog: String,
    /// The database in it.
    pub database: String,
    /// The table, view or function.
    pub object: String,
}

impl ObjectIdentifier {
    /// The identifier of these three parts.
    pub fn of(
        catalog: impl Into<String>,
        database: impl Into<String>,
        object: impl Into<String>,
    ) -> Self {
        ObjectIdentifier {
            catalog: catalog.into(),
            database: database.into(),
            object: object.into(),
        }
    }

    /// The path inside the catalog.
    pub fn to_object_path(&self) -> ObjectPath {
        ObjectPath {
            database: self.database.clone(),
            object: self.object.clone(),
        }
    }

    /// The parts joined by dots without quotes, as plans and errors show them.
    pub fn to_summary_string(&self) -> String {
        format!("{}.{}.{}", self.catalog, self.database, self.object)
    }
}

impl fmt::Display for ObjectIdentifier {
    /// Writes the three parts in back-quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}",
            quote_identifier(&self.catalog),
            quote_identifier(&self.database),
            quote_identifier(&self.object)
        )
    }
}

/// The path of an object inside one catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectPath {
    /// The database.
    pub database: String,
    /// The table, view or function.
    pub object: String,
}

impl ObjectPath {
    /// The path of these two parts.
    pub fn of(database: impl Into<String>, object: impl Into<String>) -> Self {
        ObjectPath {
            database: database.into(),
            object: object.into(),
        }
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}",
            quote_identifier(&self.database),
            quote_identifier(&self.object)
        )
    }
}

/// A path as written: one to three parts, still to be completed by the current names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnresolvedIdentifier {
    parts: Vec<String>,
}

impl UnresolvedIdentifier {
    /// An identifier of one to three non-empty parts.
    ///
    /// # Errors
    /// `validation.invalid_identifier` if there are none, more than three or an empty one.
    pub fn of<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Result<Self> {
        let parts: Vec<String> = parts.into_iter().map(Into::into).collect();
        let reason = if parts.is_empty() || parts.len() > 3 {
            "a path has one to three parts"
        } else if parts.iter().any(String::is_empty) {
            "a part is empty"
        } else {
            return Ok(UnresolvedIdentifier { parts });
        };
        Err(ValidationErrorKind::InvalidIdentifier {
            identifier: parts.join("."),
            reason: reason.to_string(),
        }
        .into())
    }

    /// Reads a path such as `` db.`my table` ``.
    ///
    /// # Errors
    /// `validation.invalid_identifier` if the text is no path of one to three parts.
    pub fn parse(path: &str) -> Result<Self> {
        let invalid = |reason: &str| ValidationErrorKind::InvalidIdentifier {
            identifier: path.to_string(),
            reason: reason.to_string(),
        };
        let mut parts = Vec::new();
        let mut chars = path.chars().peekable();
        loop {
            let mut part = String::new();
            if chars.peek() == Some(&'`') {
                chars.next();
                loop {
                    match chars.next() {
                        Some('`') if chars.peek() == Some(&'`') => {
                            chars.next();
                            part.push('`');
                        }
                        Some('`') => break,
                        Some(c) => part.push(c),
                        None => return Err(invalid("a back-quote is not closed").into()),
                    }
                }
            } else {
                while let Some(&c) = chars.peek() {
                    if c == '.' {
                        break;
                    }
                    if c == '`' || c.is_whitespace() || c.is_control() {
                        return Err(
                            invalid("a part with blanks or quotes needs back-quotes").into()
                        );
                    }
                    part.push(c);
                    chars.next();
                }
            }
            parts.push(part);
            match chars.next() {
                None => break,
                Some('.') => {}
                Some(_) => return Err(invalid("a dot is wanted after a quoted part").into()),
            }
        }
        UnresolvedIdentifier::of(parts).map_err(|_| {
            if parts_are_empty(path) {
                invalid("a part is empty").into()
            } else {
                invalid("a path has one to three parts").into()
            }
        })
    }

    /// The parts, outermost first.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The last part.
    pub fn object(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }
}

fn parts_are_empty(path: &str) -> bool {
    path.is_empty() || path.starts_with('.') || path.ends_with('.') || path.contains("..")
}

impl fmt::Display for UnresolvedIdentifier {
    /// Writes the parts, in back-quotes where needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !part.starts_with(|c: char| c.is_ascii_digit());
            if plain && !part.is_empty() {
                f.write_str(part)?;
            } else {
                f.write_str(&quote_identifier(part))?;
            }
        }
        Ok(())
    }
}

/// The name in back-quotes, inner ones doubled.
pub fn quote_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Vec<String> {
        UnresolvedIdentifier::parse(path).unwrap().parts().to_vec()
    }

    #[test]
    fn reads_plain_and_quoted_paths() {
        assert_eq!(parts("t"), ["t"]);
        assert_eq!(parts("c.d.t"), ["c", "d", "t"]);
        assert_eq!(parts("d.`a.b``c`"), ["d", "a.b`c"]);
    }

    #[test]
    fn refuses_what_is_no_path() {
        for path in ["", ".", "a.", "a..b", "a.b.c.d", "`a", "`a`b", "a b", "``"] {
            let error = UnresolvedIdentifier::parse(path).unwrap_err();
            assert_eq!(error.code(), "validation.invalid_identifier", "{path}");
        }
    }

    #[test]
    fn prints_what_it_reads() {
        let id = ObjectIdentifier::of("c", "d", "x`y");
        assert_eq!(id.to_string(), "`c`.`d`.`x``y`");
        assert_eq!(parts(&id.to_string()), ["c", "d", "x`y"]);
        let unresolved = UnresolvedIdentifier::of(["d", "my table"]).unwrap();
        assert_eq!(unresolved.to_string(), "d.`my table`");
    }
}

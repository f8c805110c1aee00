//! Names of columns, as the old methods take them.

/// Names of columns: `"a, b"` or a list of names.
pub trait FieldList {
    /// The names.
    fn into_names(self) -> Vec<String>;
}

impl FieldList for &str {
    fn into_names(self) -> Vec<String> {
        self.split(',')
            .map(|name| name.trim().trim_matches('`').to_string())
            .filter(|name| !name.is_empty())
            .collect()
    }
}

impl FieldList for &[&str] {
    fn into_names(self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

impl<const N: usize> FieldList for [&str; N] {
    fn into_names(self) -> Vec<String> {
        self.as_slice().into_names()
    }
}

impl FieldList for Vec<String> {
    fn into_names(self) -> Vec<String> {
        self
    }
}

//! The built-in scalar functions, one file each, and their lookup by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::definition::{BuiltIn, FunctionDefinition};
use crate::error::{FunctionError, Result};

mod arithmetic;
mod collection;
mod comparison;
mod conditional;
mod encoding;
mod hash;
mod json;
mod logical;
mod math;
mod miscellaneous;
mod network;
mod regular_expression;
mod string;
mod temporal;

/// The families' lists.
const FAMILIES: &[&[BuiltIn]] = &[
    arithmetic::FUNCTIONS,
    collection::FUNCTIONS,
    comparison::FUNCTIONS,
    conditional::FUNCTIONS,
    encoding::FUNCTIONS,
    hash::FUNCTIONS,
    json::FUNCTIONS,
    logical::FUNCTIONS,
    math::FUNCTIONS,
    miscellaneous::FUNCTIONS,
    network::FUNCTIONS,
    regular_expression::FUNCTIONS,
    string::FUNCTIONS,
    temporal::FUNCTIONS,
];

/// Every function by its name and aliases.
static BY_NAME: LazyLock<HashMap<&'static str, &'static BuiltIn>> = LazyLock::new(|| {
    FAMILIES
        .iter()
        .flat_map(|family| family.iter())
        .flat_map(|f| {
            std::iter::once(f.name)
                .chain(f.aliases.iter().copied())
                .map(move |n| (n, f))
        })
        .collect()
});

/// All built-in functions, sorted by name.
pub static FUNCTIONS: LazyLock<Vec<&'static dyn FunctionDefinition>> = LazyLock::new(|| {
    let mut all: Vec<&'static BuiltIn> = FAMILIES.iter().flat_map(|f| f.iter()).collect();
    all.sort_by_key(|f| f.name);
    all.into_iter()
        .map(|f| f as &dyn FunctionDefinition)
        .collect()
});

/// Returns the function of a name, in whatever case it is written.
///
/// # Errors
/// `function.unknown`, with near names.
pub fn find_function(name: &str) -> Result<&'static dyn FunctionDefinition> {
    if let Some(function) = BY_NAME.get(name) {
        return Ok(*function);
    }
    let upper = name.to_uppercase();
    match BY_NAME.get(upper.as_str()) {
        Some(function) => Ok(*function),
        None => Err(FunctionError::UnknownFunction {
            near: near_names(&upper),
            name: name.to_owned(),
        }),
    }
}

/// Returns at most three names within two edits, nearest first.
fn near_names(name: &str) -> Vec<String> {
    let mut near: Vec<(usize, &str)> = BY_NAME
        .keys()
        .map(|candidate| (edit_distance(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.len())
        .collect();
    near.sort_unstable();
    near.into_iter()
        .take(3)
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_names_unique() {
        let mut names = Vec::new();
        for family in FAMILIES {
            assert!(family.is_sorted_by_key(|f| f.name), "{family:?}");
            for function in *family {
                names.push(function.name);
                names.extend(function.aliases);
                assert!(function.doc.ends_with('.'), "{function:?} has no sentence");
                assert!(!function.signatures().is_empty());
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|n| *n == n.to_uppercase()));
    }

    #[test]
    fn unknown_names_get_hints() {
        let error = find_function("colesce").unwrap_err();
        assert_eq!(error.code(), "function.unknown");
        assert_eq!(error.hint().unwrap(), "Did you mean COALESCE?");
    }
}

//! SQL/JSON paths: `lax $.a.b[0]`, `strict $['c'].*`, `$[*]`.
//!
//! In lax mode (the default) a step that finds nothing gives nothing, a member step goes into the
//! elements of an array, and an index into a scalar sees an array of that one. In strict mode each of
//! these is an error.

use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use crate::error::{FunctionError, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    AnyMember,
    Index(usize),
    AnyIndex,
}

/// A compiled path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    is_strict: bool,
    steps: Vec<Step>,
}

impl Path {
    pub(super) fn compile(text: &str) -> Result<Self> {
        let bad = |why: &str| FunctionError::runtime(format!("JSON path '{text}' {why}"));
        let trimmed = text.trim();
        let (is_strict, rest) = if let Some(rest) = trimmed.strip_prefix("strict ") {
            (true, rest)
        } else {
            (false, trimmed.strip_prefix("lax ").unwrap_or(trimmed))
        };
        let mut rest = rest
            .trim_start()
            .strip_prefix('$')
            .ok_or_else(|| bad("does not begin with $"))?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                if let Some(after) = after.strip_prefix('*') {
                    steps.push(Step::AnyMember);
                    rest = after;
                } else if after.starts_with(['"', '\'']) {
                    let (name, after) = quoted(after).ok_or_else(|| bad("has no closing quote"))?;
                    steps.push(Step::Member(name));
                    rest = after;
                } else {
                    let end = after.find(['.', '[', ' ']).unwrap_or(after.len());
                    if end == 0 {
                        return Err(bad("has an empty name"));
                    }
                    steps.push(Step::Member(after[..end].to_owned()));
                    rest = after[end..].trim_start();
                }
            } else if let Some(after) = rest.strip_prefix('[') {
                let after = after.trim_start();
                let (step, after) = if let Some(after) = after.strip_prefix('*') {
                    (Step::AnyIndex, after)
                } else if after.starts_with(['"', '\'']) {
                    let (name, after) = quoted(after).ok_or_else(|| bad("has no closing quote"))?;
                    (Step::Member(name), after)
                } else {
                    let end = after.bytes().take_while(u8::is_ascii_digit).count();
                    let index = after[..end].parse().map_err(|_| bad("has a bad index"))?;
                    (Step::Index(index), &after[end..])
                };
                let after = after.trim_start().strip_prefix(']');
                rest = after.ok_or_else(|| bad("has no closing bracket"))?;
                steps.push(step);
            } else {
                return Err(bad("has a step that is neither .name nor [index]"));
            }
        }
        Ok(Self { is_strict, steps })
    }

    /// Returns what the path finds; nothing in strict mode if a step fails.
    pub(super) fn find<'j>(&self, json: &'j Json) -> Option<Vec<&'j Json>> {
        let mut found = vec![json];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                if !self.step(step, value, &mut next) && self.is_strict {
                    return None;
                }
            }
            found = next;
        }
        Some(found)
    }

    /// Takes one step and says whether it fits the value.
    fn step<'j>(&self, step: &Step, value: &'j Json, out: &mut Vec<&'j Json>) -> bool {
        match (step, value) {
            (Step::Member(name), Json::Object(members)) => match members.get(name) {
                Some(member) => out.push(member),
                None => return false,
            },
            (Step::AnyMember, Json::Object(members)) => out.extend(members.values()),
            (Step::Index(index), Json::Array(elements)) => match elements.get(*index) {
                Some(element) => out.push(element),
                None => return false,
            },
            (Step::AnyIndex, Json::Array(elements)) => out.extend(elements),
            (Step::Member(_) | Step::AnyMember, Json::Array(elements)) if !self.is_strict => {
                for element in elements.iter().filter(|e| e.is_object()) {
                    self.step(step, element, out);
                }
            }
            (Step::Index(0) | Step::AnyIndex, other) if !self.is_strict => out.push(other),
            _ => return false,
        }
        true
    }
}

/// Reads a quoted name from the front.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((name, &text[at + 1..]));
        }
        name.push(if c == '\\' { chars.next()?.1 } else { c });
    }
    None
}

/// The last path of a column: it hardly ever changes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    last: Mutex<Option<(String, Path)>>,
}

impl Cache {
    /// Returns the compiled path.
    pub(super) fn get(&self, text: &str) -> Result<Path> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((known, path)) if known == text => Ok(path.clone()),
            _ => {
                let path = Path::compile(text)?;
                *last = Some((text.to_owned(), path.clone()));
                Ok(path)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(path: &str, found: &str) {
        let json: Json =
            serde_json::from_str(r#"{"a":[{"b":1},{"b":2},3],"c":{"d e":null}}"#).unwrap();
        let result = Path::compile(path).unwrap().find(&json);
        let text = result.map_or("error".to_owned(), |r| serde_json::to_string(&r).unwrap());
        assert_eq!(text, found, "{path}");
    }

    #[test]
    fn steps() {
        check("$.a[0].b", "[1]");
        check("lax $.a.b", "[1,2]");
        check("strict $.a.b", "error");
        check("strict $.a[*]", r#"[{"b":1},{"b":2},3]"#);
        check("$.x", "[]");
        check("strict $.x", "error");
        check("$.c['d e']", "[null]");
        check("$.c.\"d e\"", "[null]");
        check("$.c.*", "[null]");
        check("$.c[0].*", "[null]");
        check("$.a[7]", "[]");
        for bad in ["", "a", "$.", "$[", "$[x]", "$['a", "$a"] {
            assert!(Path::compile(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_text_panics(text in "\\PC{0,16}|[$.\\[\\]'*a0 ]{0,16}") {
            let _ = Path::compile(&text);
        }
    }
}

//! `LIKE`: text against a pattern of `%` (any characters) and `_` (one character).
//!
//! A literal pattern is compiled once; the frequent forms `abc`, `abc%`, `%abc` and `%abc%` need no
//! search by pattern. The escape character, a backslash unless given, takes the next one as it is.

use crate::definition::{BuiltIn, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{Text, fail, map1, map2, map3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const LIKE: BuiltIn = BuiltIn::new(
    "LIKE",
    "TRUE if the text matches the pattern, where % stands for any characters and _ for one.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::Boolean),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Text], Returns::Boolean),
    ],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let escape_is_literal = args.types.len() == 2 || args.literal_text(2).is_some();
    if let (Some(pattern), true) = (args.literal_text(1), escape_is_literal) {
        let pattern = Pattern::compile(pattern, args.literal_text(2))?;
        return Ok(map1::<Text, bool>(args.result, move |text| {
            Ok(Some(pattern.matches(text)))
        }));
    }
    Ok(if args.types.len() == 2 {
        map2::<Text, Text, bool>(args.result, |text, pattern| {
            Ok(Some(Pattern::compile(pattern, None)?.matches(text)))
        })
    } else {
        map3::<Text, Text, Text, bool>(args.result, |text, pattern, escape| {
            Ok(Some(Pattern::compile(pattern, Some(escape))?.matches(text)))
        })
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    Equals(String),
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    Steps(Vec<Step>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Char(char),
    One,
    Any,
}

impl Pattern {
    fn compile(pattern: &str, escape: Option<&str>) -> Result<Self> {
        let explicit = escape.is_some();
        let escape = match escape {
            None => Some('\\'),
            Some(text) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (first, None) => first,
                    _ => return fail(format!("escape must be one character, but is '{text}'")),
                }
            }
        };
        let mut steps = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let plain = |c: char| match c {
                '%' => Step::Any,
                '_' => Step::One,
                other => Step::Char(other),
            };
            if Some(c) != escape {
                steps.push(plain(c));
                continue;
            }
            match chars.next() {
                Some(next) if Some(next) == escape || matches!(next, '%' | '_') => {
                    steps.push(Step::Char(next));
                }
                // The default escape is one only before a character that needs it.
                Some(next) if !explicit => steps.extend([Step::Char(c), plain(next)]),
                None if !explicit => steps.push(Step::Char(c)),
                _ => {
                    return Err(FunctionError::runtime(format!(
                        "escape '{c}' in pattern '{pattern}' is not followed by %, _ or itself"
                    )));
                }
            }
        }
        steps.dedup_by(|a, b| *a == Step::Any && *b == Step::Any);
        let literal = |steps: &[Step]| {
            steps
                .iter()
                .map(|s| match s {
                    Step::Char(c) => Some(*c),
                    _ => None,
                })
                .collect::<Option<String>>()
        };
        let simple = match steps.as_slice() {
            [Step::Any, middle @ .., Step::Any] => literal(middle).map(Self::Contains),
            [Step::Any, rest @ ..] => literal(rest).map(Self::EndsWith),
            [start @ .., Step::Any] => literal(start).map(Self::StartsWith),
            all => literal(all).map(Self::Equals),
        };
        Ok(simple.unwrap_or(Self::Steps(steps)))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Equals(s) => text == s,
            Self::StartsWith(s) => text.starts_with(s.as_str()),
            Self::EndsWith(s) => text.ends_with(s.as_str()),
            Self::Contains(s) => text.contains(s.as_str()),
            Self::Steps(steps) => matches_steps(steps, text),
        }
    }
}

/// Matches greedily and goes back to the last `%` alone, so that time is at most the product of
/// both lengths.
fn matches_steps(steps: &[Step], text: &str) -> bool {
    let (mut step, mut at) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        let next = text[at..].chars().next();
        match (steps.get(step), next) {
            (Some(Step::Any), _) => {
                step += 1;
                back = Some((step, at));
                continue;
            }
            (None, None) => return true,
            (Some(Step::One), Some(c)) => {
                step += 1;
                at += c.len_utf8();
                continue;
            }
            (Some(Step::Char(wanted)), Some(c)) if *wanted == c => {
                step += 1;
                at += c.len_utf8();
                continue;
            }
            _ => {}
        }
        // Let the last `%` take one more character.
        let Some((after, from)) = back else {
            return false;
        };
        let Some(c) = text[from..].chars().next() else {
            return false;
        };
        step = after;
        at = from + c.len_utf8();
        back = Some((after, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |text: &str, pattern: &str, matches: bool| {
            let compiled = Pattern::compile(pattern, None).unwrap();
            assert_eq!(compiled.matches(text), matches, "{text} LIKE {pattern}");
        };
        check("abc", "abc", true);
        check("abc", "a%", true);
        check("abc", "%c", true);
        check("abc", "%b%", true);
        check("abc", "_b_", true);
        check("abc", "_b", false);
        check("aXbXc", "a%b%c", true);
        check("aab", "%a_b%", true);
        check("ab", "%a_b%", false);
        check("日本語", "日_語", true);
        check("a%c", "a\\%c", true);
        check("abc", "a\\%c", false);
        check("", "%", true);
        check("", "", true);
        check("", "_", false);
        check("aaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%a%a%a%a%c", false);
        assert!(Pattern::compile("a#b", Some("#")).is_err());
        assert!(Pattern::compile("a##b", Some("#")).unwrap().matches("a#b"));
    }
}

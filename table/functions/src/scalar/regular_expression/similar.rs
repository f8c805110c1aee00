//! `SIMILAR TO`: SQL's own regular expressions.
//!
//! `%` stands for any characters, `_` for one; all else means what it means in other regular
//! expressions (also `.`, as in Flink). The whole text must match.

use regex::Regex;

use super::cache::compile;
use crate::definition::{BuiltIn, Notation};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{Text, map1, map2, map3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const SIMILAR_TO: BuiltIn = BuiltIn::new(
    "SIMILAR TO",
    "TRUE if the text matches the SQL regular expression.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::Boolean),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Text], Returns::Boolean),
    ],
    |args| {
        let literal_escape = args.types.len() == 2 || args.literal_text(2).is_some();
        if let (Some(pattern), true) = (args.literal_text(1), literal_escape) {
            let regex = translate(pattern, args.literal_text(2))?;
            let one = map1::<Text, bool>(args.result, move |text| Ok(Some(regex.is_match(text))));
            return Ok(Box::new(move |columns, context| {
                one(&columns[..1], context)
            }));
        }
        if args.types.len() == 2 {
            return Ok(map2::<Text, Text, bool>(args.result, |text, pattern| {
                Ok(Some(translate(pattern, None)?.is_match(text)))
            }));
        }
        Ok(map3::<Text, Text, Text, bool>(
            args.result,
            |text, pattern, escape| Ok(Some(translate(pattern, Some(escape))?.is_match(text))),
        ))
    },
)
.notation(Notation::Infix);

fn translate(pattern: &str, escape: Option<&str>) -> Result<Regex> {
    let escape = escape.and_then(|e| e.chars().next());
    let mut out = String::from("(?s)^(?:");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            let Some(next) = chars.next() else {
                return Err(FunctionError::runtime(format!(
                    "pattern '{pattern}' ends with its escape character"
                )));
            };
            out.push_str(&regex::escape(next.encode_utf8(&mut [0; 4])));
            continue;
        }
        match c {
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            other => out.push(other),
        }
    }
    out.push_str(")$");
    compile(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |text: &str, pattern: &str, matches: bool| {
            assert_eq!(
                translate(pattern, None).unwrap().is_match(text),
                matches,
                "{pattern}"
            );
        };
        check("abc", "a%", true);
        check("abc", "(a|b)_c", true);
        check("abc", "b", false);
        check("a.c", "a.c", true);
        check("abc", "a.c", true);
        check("aab", "a{2}b", true);
        check("x", "[^ab]", true);
    }
}

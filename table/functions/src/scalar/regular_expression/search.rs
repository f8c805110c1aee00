//! `REGEXP_COUNT`, `REGEXP_EXTRACT_ALL`, `REGEXP_INSTR` and `REGEXP_SUBSTR`; what is no regular
//! expression finds NULL.

use std::sync::Arc;

use aquifer_types::DataTypes;
use arrow_array::Array;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use regex::{Captures, Regex};

use super::cache::Cache;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Nulls};
use crate::kernel::rows::{Text, map2, text2};
use crate::signature::{Inferred, Kind, Returns, Signature};

/// Returns all matches as Java finds them: an empty one may follow another right away.
fn matches<'t>(regex: &Regex, text: &'t str) -> Vec<Captures<'t>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start <= text.len()
        && let Some(captures) = regex.captures_at(text, start)
        && let Some(whole) = captures.get(0)
    {
        start = whole.end();
        if whole.is_empty() {
            start += text[start..].chars().next().map_or(1, char::len_utf8);
        }
        found.push(captures);
    }
    found
}

const TWO_TEXTS: &[Kind] = &[Kind::Text, Kind::Text];

pub(super) const REGEXP_COUNT: BuiltIn = BuiltIn::new(
    "REGEXP_COUNT",
    "The number of matches of a regular expression in a text.",
    &[Signature::new(TWO_TEXTS, Returns::Int)],
    |args| {
        let cache = Cache::default();
        Ok(map2::<Text, Text, i32>(
            args.result,
            move |text, pattern| {
                Ok(cache
                    .get(pattern)
                    .ok()
                    .map(|regex| matches(&regex, text).len() as i32))
            },
        ))
    },
)
.nulls(Nulls::Always)
.infallible();

pub(super) const REGEXP_INSTR: BuiltIn = BuiltIn::new(
    "REGEXP_INSTR",
    "The position from 1 of the first match of a regular expression in a text; 0 if there is none.",
    &[Signature::new(TWO_TEXTS, Returns::Int)],
    |args| {
        let cache = Cache::default();
        Ok(map2::<Text, Text, i32>(
            args.result,
            move |text, pattern| {
                let Ok(regex) = cache.get(pattern) else {
                    return Ok(None);
                };
                let found = regex.find(text);
                Ok(Some(found.map_or(0, |m| {
                    text[..m.start()].chars().count() as i32 + 1
                })))
            },
        ))
    },
)
.nulls(Nulls::Always)
.infallible();

pub(super) const REGEXP_SUBSTR: BuiltIn = BuiltIn::new(
    "REGEXP_SUBSTR",
    "The first match of a regular expression in a text; NULL if there is none.",
    &[Signature::new(TWO_TEXTS, Returns::String)],
    |_| {
        let cache = Cache::default();
        Ok(text2::<Text, Text>(move |text, pattern, out| {
            let found = cache
                .get(pattern)
                .ok()
                .and_then(|regex| regex.find(text).map(|found| out.push_str(found.as_str())));
            Ok(found.is_some())
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

pub(super) const REGEXP_EXTRACT_ALL: BuiltIn = BuiltIn::with(
    "REGEXP_EXTRACT_ALL",
    "A group (the first unless given) of all matches of a regular expression in a text.",
    Inference::Custom(
        &[
            "REGEXP_EXTRACT_ALL(<CHARACTER_STRING>, <CHARACTER_STRING>)",
            "REGEXP_EXTRACT_ALL(<CHARACTER_STRING>, <CHARACTER_STRING>, <INTEGER>)",
        ],
        |arguments| {
            let (texts, group) = match arguments {
                [_, _] => (arguments, None),
                [texts @ .., group] if texts.len() == 2 => (texts, Some(Kind::Int.accept(group)?)),
                _ => return None,
            };
            let types = texts.iter().map(|a| Kind::Text.accept(a));
            let types = types.chain(group.map(Some)).collect::<Option<_>>()?;
            Some(Inferred {
                arguments: types,
                result: DataTypes::array(DataTypes::string()),
            })
        },
    ),
    Implementation::Kernel(|_| {
        let cache = Cache::default();
        Ok(Box::new(move |columns, context| {
            let texts = columns[0].array().as_string::<i32>();
            let patterns = columns[1].array().as_string::<i32>();
            let groups = columns
                .get(2)
                .map(|c| (c, c.array().as_primitive::<Int32Type>()));
            let mut builder = ListBuilder::new(StringBuilder::new());
            for row in 0..context.rows {
                let (at, by) = (columns[0].position(row), columns[1].position(row));
                let group = match &groups {
                    None => Some(1),
                    Some((column, groups)) => {
                        let at = column.position(row);
                        groups.is_valid(at).then(|| groups.value(at))
                    }
                };
                let regex = (texts.is_valid(at) && patterns.is_valid(by))
                    .then(|| cache.get(patterns.value(by)).ok())
                    .flatten();
                let group = group.and_then(|g| usize::try_from(g).ok());
                let (Some(regex), Some(group)) = (regex, group) else {
                    builder.append_null();
                    continue;
                };
                if group >= regex.captures_len() {
                    builder.append_null();
                    continue;
                }
                for found in matches(&regex, texts.value(at)) {
                    builder
                        .values()
                        .append_option(found.get(group).map(|part| part.as_str()));
                }
                builder.append(true);
            }
            Ok(Column::Array(Arc::new(builder.finish())))
        }))
    }),
)
.infallible();

//! `REGEXP_EXTRACT`.

use super::cache::Cache;
use crate::definition::{BuiltIn, Nulls};
use crate::error::Result;
use crate::kernel::rows::{I32, Text, text2, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const REGEXP_EXTRACT: BuiltIn = BuiltIn::new(
    "REGEXP_EXTRACT",
    "A group (the whole match if none is given) of the first match in the text; NULL without a match.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::String),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Int], Returns::String),
    ],
    |args| {
        let cache = Cache::default();
        if args.types.len() == 2 {
            return Ok(text2::<Text, Text>(move |text, pattern, out| {
                extract(&cache, text, pattern, 0, out)
            }));
        }
        Ok(text3::<Text, Text, I32>(move |text, pattern, group, out| {
            extract(&cache, text, pattern, group, out)
        }))
    },
)
.nulls(Nulls::Always);

fn extract(cache: &Cache, text: &str, pattern: &str, group: i32, out: &mut String) -> Result<bool> {
    let Ok(group) = usize::try_from(group) else {
        return Ok(false);
    };
    let regex = cache.get(pattern)?;
    match regex.captures(text).and_then(|found| found.get(group)) {
        Some(part) => {
            out.push_str(part.as_str());
            Ok(true)
        }
        None => Ok(false),
    }
}

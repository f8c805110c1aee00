//! `REGEXP`.

use super::cache::{Cache, compile};
use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, map1, map2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const REGEXP: BuiltIn = BuiltIn::new(
    "REGEXP",
    "TRUE if a part of the text matches the regular expression.",
    &[Signature::new(&[Kind::Text, Kind::Text], Returns::Boolean)],
    |args| {
        if let Some(pattern) = args.literal_text(1) {
            let regex = compile(pattern)?;
            let one = map1::<Text, bool>(args.result, move |text| Ok(Some(regex.is_match(text))));
            return Ok(Box::new(move |columns, context| {
                one(&columns[..1], context)
            }));
        }
        let cache = Cache::default();
        Ok(map2::<Text, Text, bool>(
            args.result,
            move |text, pattern| Ok(Some(cache.get(pattern)?.is_match(text))),
        ))
    },
);

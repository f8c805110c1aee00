//! `REGEXP_REPLACE`.

use regex::NoExpand;

use super::cache::Cache;
use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const REGEXP_REPLACE: BuiltIn = BuiltIn::new(
    "REGEXP_REPLACE",
    "The text with every match of the regular expression replaced by another text.",
    &[Signature::new(
        &[Kind::Text, Kind::Text, Kind::Text],
        Returns::String,
    )],
    |_| {
        let cache = Cache::default();
        Ok(text3::<Text, Text, Text>(move |text, pattern, new, out| {
            out.push_str(&cache.get(pattern)?.replace_all(text, NoExpand(new)));
            Ok(true)
        }))
    },
);

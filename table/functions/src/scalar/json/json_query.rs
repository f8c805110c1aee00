//! `JSON_QUERY`: an object or array of a JSON text, as JSON.

use serde_json::Value as Json;

use super::path::Cache;
use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Text, text2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const JSON_QUERY: BuiltIn = BuiltIn::new(
    "JSON_QUERY",
    "The object or array that a path finds in a JSON text; a third argument says whether others are wrapped in an array (WITHOUT, CONDITIONAL or UNCONDITIONAL).",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::String),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Symbol], Returns::String),
    ],
    |args| {
        let wrapper = args.literal_text(2).unwrap_or("WITHOUT").to_owned();
        let cache = Cache::default();
        let two = text2::<Text, Text>(move |text, path, out| {
            let path = cache.get(path)?;
            let Ok(json) = serde_json::from_str::<Json>(text) else { return Ok(false) };
            let Some(found) = path.find(&json) else { return Ok(false) };
            let result = match (wrapper.as_str(), found.as_slice()) {
                (_, []) => return Ok(false),
                ("CONDITIONAL", [array @ Json::Array(_)]) => (*array).clone(),
                ("CONDITIONAL" | "UNCONDITIONAL", found) => {
                    Json::Array(found.iter().map(|v| (*v).clone()).collect())
                }
                (_, [one @ (Json::Object(_) | Json::Array(_))]) => (*one).clone(),
                _ => return Ok(false),
            };
            out.push_str(&result.to_string());
            Ok(true)
        });
        Ok(Box::new(move |columns, context| two(&columns[..2], context)))
    },
)
.nulls(Nulls::Always);

//! `JSON_VALUE`: a scalar of a JSON text. Without one, or on an error, the result is NULL.

use serde_json::Value as Json;

use super::path::Cache;
use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Text, text2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const JSON_VALUE: BuiltIn = BuiltIn::new(
    "JSON_VALUE",
    "The scalar that a path finds in a JSON text, as text; NULL if it finds none.",
    &[Signature::new(&[Kind::Text, Kind::Text], Returns::String)],
    |_| {
        let cache = Cache::default();
        Ok(text2::<Text, Text>(move |text, path, out| {
            let path = cache.get(path)?;
            let Ok(json) = serde_json::from_str::<Json>(text) else {
                return Ok(false);
            };
            match path.find(&json).as_deref() {
                Some([Json::String(value)]) => out.push_str(value),
                Some([value @ (Json::Bool(_) | Json::Number(_))]) => {
                    out.push_str(&value.to_string());
                }
                _ => return Ok(false),
            }
            Ok(true)
        }))
    },
)
.nulls(Nulls::Always);

//! `JSON_EXISTS`.

use serde_json::Value as Json;

use super::path::Cache;
use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Text, fail, map2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const JSON_EXISTS: BuiltIn = BuiltIn::new(
    "JSON_EXISTS",
    "Whether a path finds something in a JSON text; a third argument (TRUE, FALSE, UNKNOWN or ERROR) says what an error is.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::Boolean),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Symbol], Returns::Boolean),
    ],
    |args| {
        let on_error = args.literal_text(2).unwrap_or("FALSE").to_owned();
        let cache = Cache::default();
        let two = map2::<Text, Text, bool>(args.result, move |text, path| {
            let path = cache.get(path)?;
            let json = serde_json::from_str::<Json>(text).ok();
            match json.as_ref().and_then(|json| path.find(json)) {
                Some(found) => Ok(Some(!found.is_empty())),
                None => match on_error.as_str() {
                    "TRUE" => Ok(Some(true)),
                    "UNKNOWN" => Ok(None),
                    "ERROR" => fail("the path is an error in the JSON text"),
                    _ => Ok(Some(false)),
                },
            }
        });
        Ok(Box::new(move |columns, context| two(&columns[..2], context)))
    },
)
.nulls(Nulls::Always);

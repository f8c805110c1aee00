//! `IS JSON`: whether a text is a JSON value, or a certain kind of one. NULL is none.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;
use serde_json::Value as Json;

use crate::column::Column;
use crate::definition::{BuiltIn, Kernel, Notation, Nulls};
use crate::error::Result;
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text], Returns::Boolean)];

fn kernel(is: fn(&Json) -> bool) -> Result<Kernel> {
    Ok(Box::new(move |columns, context| {
        let texts = columns[0].array().as_string::<i32>();
        let bits = BooleanBuffer::collect_bool(context.rows, |row| {
            let at = columns[0].position(row);
            texts.is_valid(at) && serde_json::from_str(texts.value(at)).is_ok_and(|json| is(&json))
        });
        Ok(Column::Array(Arc::new(BooleanArray::new(bits, None))))
    }))
}

macro_rules! predicate {
    ($constant:ident, $name:literal, $aliases:expr, $doc:literal, $is:expr) => {
        pub(super) const $constant: BuiltIn =
            BuiltIn::new($name, $doc, SIGNATURES, |_| kernel($is))
                .aliases($aliases)
                .nulls(Nulls::Never)
                .notation(Notation::Postfix)
                .infallible();
    };
}

predicate!(
    IS_JSON_VALUE,
    "IS JSON VALUE",
    &["IS JSON"],
    "Whether the text is JSON.",
    |_| true
);
predicate!(
    IS_JSON_OBJECT,
    "IS JSON OBJECT",
    &[],
    "Whether the text is a JSON object.",
    Json::is_object
);
predicate!(
    IS_JSON_ARRAY,
    "IS JSON ARRAY",
    &[],
    "Whether the text is a JSON array.",
    Json::is_array
);
predicate!(
    IS_JSON_SCALAR,
    "IS JSON SCALAR",
    &[],
    "Whether the text is a JSON value that is neither object nor array.",
    |json| !json.is_object() && !json.is_array()
);

//! JSON texts.

use crate::definition::BuiltIn;

mod is_json;
mod json_exists;
mod json_query;
mod json_quote;
mod json_string;
mod json_value;
mod path;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    is_json::IS_JSON_ARRAY,
    is_json::IS_JSON_OBJECT,
    is_json::IS_JSON_SCALAR,
    is_json::IS_JSON_VALUE,
    json_exists::JSON_EXISTS,
    json_query::JSON_QUERY,
    json_quote::JSON_QUOTE,
    json_string::JSON_STRING,
    json_quote::JSON_UNQUOTE,
    json_value::JSON_VALUE,
];

//! `JSON_QUOTE` and `JSON_UNQUOTE`.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text1};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text], Returns::String)];

pub(super) const JSON_QUOTE: BuiltIn = BuiltIn::new(
    "JSON_QUOTE",
    "A text as a JSON string, in ASCII.",
    SIGNATURES,
    |_| {
        Ok(text1::<Text>(|text, out| {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '/' => out.push_str("\\/"),
                    '\u{8}' => out.push_str("\\b"),
                    '\u{c}' => out.push_str("\\f"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    ' '..='~' => out.push(c),
                    _ => {
                        for unit in c.encode_utf16(&mut [0; 2]) {
                            let _ = write!(out, "\\u{unit:04x}");
                        }
                    }
                }
            }
            out.push('"');
            Ok(true)
        }))
    },
)
.infallible();

pub(super) const JSON_UNQUOTE: BuiltIn = BuiltIn::new(
    "JSON_UNQUOTE",
    "The text of a JSON string; what is none stays as it is.",
    SIGNATURES,
    |_| {
        Ok(text1::<Text>(|text, out| {
            match unquoted(text) {
                Some(inner) => out.push_str(&inner),
                None => out.push_str(text),
            }
            Ok(true)
        }))
    },
)
.infallible();

/// The text between the quotes with its escapes read; nothing if it is malformed.
fn unquoted(text: &str) -> Option<String> {
    if let Ok(Json::String(inner)) = serde_json::from_str(text) {
        return Some(inner);
    }
    // Flink reads the escapes between the outer quotes even if quotes within are not escaped, but
    // only if that leaves a JSON value.
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let read: String = serde_json::from_str(&format!("\"{}\"", inner.replace('"', "\\\""))).ok()?;
    Some(read)
}

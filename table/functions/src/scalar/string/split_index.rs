//! `SPLIT_INDEX`.

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{I32, Text, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const SPLIT_INDEX: BuiltIn = BuiltIn::new(
    "SPLIT_INDEX",
    "The part of the text at an index from zero, split at a separator; NULL if there is none.",
    &[
        Signature::new(&[Kind::Text, Kind::Text, Kind::Int], Returns::String),
        Signature::new(&[Kind::Text, Kind::Int, Kind::Int], Returns::String),
    ],
    |args| {
        if args.types[1].is_string() {
            return Ok(text3::<Text, Text, I32>(|text, separator, index, out| {
                Ok(split(text, separator, index, out))
            }));
        }
        Ok(text3::<Text, I32, I32>(|text, separator, index, out| {
            let Some(separator) = u8::try_from(separator).ok().filter(|s| *s > 0) else {
                return Ok(false);
            };
            Ok(split(
                text,
                char::from(separator).encode_utf8(&mut [0; 2]),
                index,
                out,
            ))
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

fn split(text: &str, separator: &str, index: i32, out: &mut String) -> bool {
    let Ok(index) = usize::try_from(index) else {
        return false;
    };
    let part = if separator.is_empty() {
        text.split_whitespace().nth(index)
    } else if text.is_empty() {
        None
    } else {
        text.split(separator).nth(index)
    };
    match part {
        Some(part) => {
            out.push_str(part);
            true
        }
        None => false,
    }
}

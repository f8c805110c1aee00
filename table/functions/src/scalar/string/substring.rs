//! `SUBSTRING`.

use super::characters;
use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{I32, Text, text2, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const SUBSTRING: BuiltIn = BuiltIn::new(
    "SUBSTRING",
    "The characters from a position on, at most a number of them; a negative position counts from the end.",
    &[
        Signature::new(&[Kind::Text, Kind::Int], Returns::String),
        Signature::new(&[Kind::Text, Kind::Int, Kind::Int], Returns::String),
    ],
    |args| {
        if args.types.len() == 2 {
            return Ok(text2::<Text, I32>(|text, start, out| {
                out.push_str(substring(text, start, i32::MAX));
                Ok(true)
            }));
        }
        Ok(text3::<Text, I32, I32>(|text, start, length, out| {
            if length < 0 {
                return Ok(false);
            }
            out.push_str(substring(text, start, length));
            Ok(true)
        }))
    },
)
.aliases(&["SUBSTR"])
.nulls(Nulls::Propagate)
.infallible();

fn substring(text: &str, start: i32, length: i32) -> &str {
    let skipped = if start >= 0 {
        (start as usize).saturating_sub(1)
    } else {
        match characters::count(text).checked_sub(start.unsigned_abs() as usize) {
            Some(skipped) => skipped,
            None => return "",
        }
    };
    characters::slice(text, skipped, length as usize)
}

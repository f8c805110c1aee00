//! `OVERLAY`.

use super::characters;
use crate::definition::BuiltIn;
use crate::kernel::rows::{I32, Text, text3, text4};
use crate::signature::{Kind, Returns, Signature};

pub(super) const OVERLAY: BuiltIn = BuiltIn::new(
    "OVERLAY",
    "The first text with characters from a position on replaced by the second text.",
    &[
        Signature::new(&[Kind::Text, Kind::Text, Kind::Int], Returns::String),
        Signature::new(
            &[Kind::Text, Kind::Text, Kind::Int, Kind::Int],
            Returns::String,
        ),
    ],
    |args| {
        if args.types.len() == 3 {
            return Ok(text3::<Text, Text, I32>(|text, new, start, out| {
                overlay(text, new, start, characters::count(new) as i32, out);
                Ok(true)
            }));
        }
        Ok(text4::<Text, Text, I32, I32>(
            |text, new, start, length, out| {
                overlay(text, new, start, length, out);
                Ok(true)
            },
        ))
    },
)
.infallible();

fn overlay(text: &str, new: &str, start: i32, length: i32, out: &mut String) {
    let count = characters::count(text) as i32;
    if start <= 0 || start > count {
        out.push_str(text);
        return;
    }
    out.push_str(characters::slice(text, 0, start as usize - 1));
    out.push_str(new);
    let end = if length < 0 {
        count
    } else {
        (start - 1).saturating_add(length)
    };
    out.push_str(&text[characters::offset(text, end as usize)..]);
}

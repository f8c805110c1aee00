//! `LEFT` and `RIGHT`.

use super::characters;
use crate::definition::BuiltIn;
use crate::kernel::rows::{I32, Text, text2};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text, Kind::Int], Returns::String)];

pub(super) const LEFT: BuiltIn = BuiltIn::new(
    "LEFT",
    "The first characters of the text.",
    SIGNATURES,
    |_| {
        Ok(text2::<Text, I32>(|text, length, out| {
            out.push_str(characters::slice(text, 0, length.max(0) as usize));
            Ok(true)
        }))
    },
)
.infallible();

pub(super) const RIGHT: BuiltIn = BuiltIn::new(
    "RIGHT",
    "The last characters of the text.",
    SIGNATURES,
    |_| {
        Ok(text2::<Text, I32>(|text, length, out| {
            let start = characters::count(text).saturating_sub(length.max(0) as usize);
            out.push_str(&text[characters::offset(text, start)..]);
            Ok(true)
        }))
    },
)
.infallible();

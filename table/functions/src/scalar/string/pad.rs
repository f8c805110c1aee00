//! `LPAD` and `RPAD`.

use super::characters;
use crate::definition::{BuiltIn, Nulls};
use crate::error::Result;
use crate::kernel::rows::{I32, Text, fail, text3};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(
    &[Kind::Text, Kind::Int, Kind::Text],
    Returns::String,
)];

/// More characters than this are taken for a mistake.
const MAX_PADDING: usize = 1 << 28;

pub(super) const LPAD: BuiltIn = BuiltIn::new(
    "LPAD",
    "The text cut to a length, or filled up to it from the left with another text.",
    SIGNATURES,
    |_| {
        Ok(text3::<Text, I32, Text>(|text, length, fill, out| {
            pad(text, length, fill, true, out)
        }))
    },
)
.nulls(Nulls::Always);

pub(super) const RPAD: BuiltIn = BuiltIn::new(
    "RPAD",
    "The text cut to a length, or filled up to it from the right with another text.",
    SIGNATURES,
    |_| {
        Ok(text3::<Text, I32, Text>(|text, length, fill, out| {
            pad(text, length, fill, false, out)
        }))
    },
)
.nulls(Nulls::Always);

fn pad(text: &str, length: i32, fill: &str, left: bool, out: &mut String) -> Result<bool> {
    let Ok(length) = usize::try_from(length) else {
        return Ok(false);
    };
    let missing = length.saturating_sub(characters::count(text));
    if missing == 0 {
        out.push_str(characters::slice(text, 0, length));
        return Ok(true);
    }
    if fill.is_empty() {
        return Ok(false);
    }
    if missing > MAX_PADDING {
        return fail(format!("a text of {length} characters is too long"));
    }
    if !left {
        out.push_str(text);
    }
    out.extend(fill.chars().cycle().take(missing));
    if left {
        out.push_str(text);
    }
    Ok(true)
}

//! `REPLACE`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const REPLACE: BuiltIn = BuiltIn::new(
    "REPLACE",
    "The first text with every occurrence of the second replaced by the third.",
    &[Signature::new(
        &[Kind::Text, Kind::Text, Kind::Text],
        Returns::String,
    )],
    |_| {
        Ok(text3::<Text, Text, Text>(|text, old, new, out| {
            out.push_str(&text.replace(old, new));
            Ok(true)
        }))
    },
)
.infallible();

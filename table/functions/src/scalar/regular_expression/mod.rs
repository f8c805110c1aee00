//! Regular expressions in Java's dialect, as far as the `regex` crate takes it: no look-around and
//! no back references, in exchange for a time that is linear in the text.

use crate::definition::BuiltIn;

mod cache;
mod regexp;
mod regexp_extract;
mod regexp_replace;
mod similar;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    regexp::REGEXP,
    regexp_extract::REGEXP_EXTRACT,
    regexp_replace::REGEXP_REPLACE,
    similar::SIMILAR_TO,
];

//! Regular expressions in Java's dialect, as far as the `regex` crate takes it: no look-around and
//! no back references, in exchange for a time that is linear in the text.

use crate::definition::BuiltIn;

mod cache;
mod regexp;
mod regexp_extract;
mod regexp_replace;
mod search;
mod similar;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    regexp::REGEXP,
    search::REGEXP_COUNT,
    regexp_extract::REGEXP_EXTRACT,
    search::REGEXP_EXTRACT_ALL,
    search::REGEXP_INSTR,
    regexp_replace::REGEXP_REPLACE,
    search::REGEXP_SUBSTR,
    similar::SIMILAR_TO,
];

//! Functions that choose one of their arguments.

use crate::definition::BuiltIn;

mod coalesce;
mod if_;
mod nullif;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    coalesce::COALESCE,
    if_::IF,
    coalesce::IFNULL,
    nullif::NULLIF,
];

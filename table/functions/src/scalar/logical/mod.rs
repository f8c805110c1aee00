//! Three-valued logic.

use crate::definition::BuiltIn;

mod and_or;
mod not;

pub(super) const FUNCTIONS: &[BuiltIn] = &[and_or::AND, not::NOT, and_or::OR];

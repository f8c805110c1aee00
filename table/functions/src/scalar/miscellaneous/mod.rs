//! Functions that belong to no other family.

use crate::definition::BuiltIn;

mod elt;
mod is_text_of;
mod overlaps;
mod rand;
mod typeof_;
mod uuid;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    elt::ELT,
    is_text_of::IS_ALPHA,
    is_text_of::IS_DECIMAL,
    is_text_of::IS_DIGIT,
    overlaps::OVERLAPS,
    rand::RAND,
    rand::RAND_INTEGER,
    typeof_::TYPEOF,
    uuid::UUID,
];

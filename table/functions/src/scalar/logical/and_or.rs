//! `AND` and `OR`; the evaluator runs them itself, because the second side must not see rows that
//! the first decides.

use crate::definition::{BuiltIn, Implementation, Inference, Notation};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::variadic(
    &[Kind::Boolean, Kind::Boolean],
    Kind::Boolean,
    Returns::Boolean,
)];

pub(super) const AND: BuiltIn = BuiltIn::with(
    "AND",
    "FALSE if one condition is FALSE, TRUE if all are TRUE, NULL otherwise.",
    Inference::Signatures(SIGNATURES),
    Implementation::And,
)
.notation(Notation::Infix)
.infallible();

pub(super) const OR: BuiltIn = BuiltIn::with(
    "OR",
    "TRUE if one condition is TRUE, FALSE if all are FALSE, NULL otherwise.",
    Inference::Signatures(SIGNATURES),
    Implementation::Or,
)
.notation(Notation::Infix)
.infallible();

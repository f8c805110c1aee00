//! `=` and `<>`.

use super::infer::equality;
use crate::definition::{BuiltIn, Implementation, Inference, Notation};
use crate::kernel::compare::{Comparison, compare};

pub(super) const EQUALS: BuiltIn = BuiltIn::with(
    "=",
    "TRUE if both values are equal; NULL if one is NULL.",
    Inference::Custom(&["<COMPARABLE> = <COMPARABLE>"], equality),
    Implementation::Kernel(|_| {
        Ok(Box::new(|c, x| {
            compare(Comparison::Eq, &c[0], &c[1], x.rows)
        }))
    }),
)
.notation(Notation::Infix)
.infallible();

pub(super) const NOT_EQUALS: BuiltIn = BuiltIn::with(
    "<>",
    "TRUE if the values differ; NULL if one is NULL.",
    Inference::Custom(&["<COMPARABLE> <> <COMPARABLE>"], equality),
    Implementation::Kernel(|_| {
        Ok(Box::new(|c, x| {
            compare(Comparison::NotEq, &c[0], &c[1], x.rows)
        }))
    }),
)
.aliases(&["!="])
.notation(Notation::Infix)
.infallible();

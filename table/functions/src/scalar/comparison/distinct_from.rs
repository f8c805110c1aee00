//! `IS [NOT] DISTINCT FROM`: comparison where NULL equals NULL.

use super::infer::equality;
use crate::definition::{BuiltIn, Implementation, Inference, Notation, Nulls};
use crate::kernel::compare::distinct;

pub(super) const IS_DISTINCT_FROM: BuiltIn = BuiltIn::with(
    "IS DISTINCT FROM",
    "TRUE if the values differ, where NULL equals NULL; never NULL.",
    Inference::Custom(&["<COMPARABLE> IS DISTINCT FROM <COMPARABLE>"], equality),
    Implementation::Kernel(|_| Ok(Box::new(|c, x| distinct(&c[0], &c[1], x.rows, false)))),
)
.nulls(Nulls::Never)
.notation(Notation::Infix)
.infallible();

pub(super) const IS_NOT_DISTINCT_FROM: BuiltIn = BuiltIn::with(
    "IS NOT DISTINCT FROM",
    "TRUE if the values are equal, where NULL equals NULL; never NULL.",
    Inference::Custom(
        &["<COMPARABLE> IS NOT DISTINCT FROM <COMPARABLE>"],
        equality,
    ),
    Implementation::Kernel(|_| Ok(Box::new(|c, x| distinct(&c[0], &c[1], x.rows, true)))),
)
.nulls(Nulls::Never)
.notation(Notation::Infix)
.infallible();

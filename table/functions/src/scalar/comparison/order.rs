//! `<`, `<=`, `>` and `>=`.

use super::infer::order;
use crate::definition::{BuiltIn, Implementation, Inference, Notation};
use crate::kernel::compare::{Comparison, compare};

macro_rules! operator {
    ($constant:ident, $name:literal, $comparison:ident, $doc:literal) => {
        pub(super) const $constant: BuiltIn = BuiltIn::with(
            $name,
            $doc,
            Inference::Custom(&[concat!("<COMPARABLE> ", $name, " <COMPARABLE>")], order),
            Implementation::Kernel(|_| {
                Ok(Box::new(|c, x| {
                    compare(Comparison::$comparison, &c[0], &c[1], x.rows)
                }))
            }),
        )
        .notation(Notation::Infix)
        .infallible();
    };
}

operator!(
    LESS,
    "<",
    Lt,
    "TRUE if the first value is less; NULL if one is NULL."
);
operator!(
    LESS_OR_EQUAL,
    "<=",
    LtEq,
    "TRUE if the first value is not greater; NULL if one is NULL."
);
operator!(
    GREATER,
    ">",
    Gt,
    "TRUE if the first value is greater; NULL if one is NULL."
);
operator!(
    GREATER_OR_EQUAL,
    ">=",
    GtEq,
    "TRUE if the first value is not less; NULL if one is NULL."
);

//! `IS [NOT] TRUE`, `IS [NOT] FALSE` and `IS [NOT] UNKNOWN`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;

use crate::column::Column;
use crate::definition::{BuiltIn, Kernel, Notation, Nulls};
use crate::error::Result;
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Boolean], Returns::Boolean)];

/// Makes a kernel that asks whether a truth value (`None` is unknown) is the one wanted.
fn kernel(wanted: Option<bool>, negated: bool) -> Result<Kernel> {
    Ok(Box::new(move |columns, _| {
        let truth = columns[0].array().as_boolean();
        let valid = match truth.nulls() {
            None => BooleanBuffer::new_set(truth.len()),
            Some(nulls) => nulls.inner().clone(),
        };
        let is = match wanted {
            Some(true) => &valid & truth.values(),
            Some(false) => &valid & &!truth.values(),
            None => !&valid,
        };
        let array = Arc::new(BooleanArray::new(if negated { !&is } else { is }, None));
        Ok(if columns[0].is_scalar() {
            Column::Scalar(array)
        } else {
            Column::Array(array)
        })
    }))
}

macro_rules! predicate {
    ($constant:ident, $name:literal, $wanted:expr, $negated:literal, $doc:literal) => {
        pub(super) const $constant: BuiltIn =
            BuiltIn::new($name, $doc, SIGNATURES, |_| kernel($wanted, $negated))
                .nulls(Nulls::Never)
                .notation(Notation::Postfix)
                .infallible();
    };
}

predicate!(
    IS_TRUE,
    "IS TRUE",
    Some(true),
    false,
    "TRUE if the condition is TRUE; never NULL."
);
predicate!(
    IS_NOT_TRUE,
    "IS NOT TRUE",
    Some(true),
    true,
    "TRUE if the condition is FALSE or NULL."
);
predicate!(
    IS_FALSE,
    "IS FALSE",
    Some(false),
    false,
    "TRUE if the condition is FALSE; never NULL."
);
predicate!(
    IS_NOT_FALSE,
    "IS NOT FALSE",
    Some(false),
    true,
    "TRUE if the condition is TRUE or NULL."
);
predicate!(
    IS_UNKNOWN,
    "IS UNKNOWN",
    None,
    false,
    "TRUE if the condition is NULL; never NULL."
);
predicate!(
    IS_NOT_UNKNOWN,
    "IS NOT UNKNOWN",
    None,
    true,
    "TRUE if the condition is not NULL."
);

//! `IS NULL` and `IS NOT NULL`.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;

use crate::column::Column;
use crate::definition::{BuiltIn, Notation, Nulls};
use crate::error::Result;
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Any], Returns::Boolean)];

fn validity(column: &Column, rows: usize, negated: bool) -> Result<Column> {
    let array = column.array();
    let valid = match array.logical_nulls() {
        None => BooleanBuffer::new_set(array.len()),
        Some(nulls) => nulls.into_inner(),
    };
    let bits = if negated { valid } else { !&valid };
    let flags = Arc::new(BooleanArray::new(bits, None));
    if column.is_scalar() {
        return Ok(Column::Array(Column::Scalar(flags).into_array(rows)?));
    }
    Ok(Column::Array(flags))
}

pub(super) const IS_NULL: BuiltIn = BuiltIn::new(
    "IS NULL",
    "TRUE if the value is NULL; never NULL.",
    SIGNATURES,
    |_| Ok(Box::new(|c, x| validity(&c[0], x.rows, false))),
)
.nulls(Nulls::Never)
.notation(Notation::Postfix)
.infallible();

pub(super) const IS_NOT_NULL: BuiltIn = BuiltIn::new(
    "IS NOT NULL",
    "TRUE if the value is not NULL; never NULL.",
    SIGNATURES,
    |_| Ok(Box::new(|c, x| validity(&c[0], x.rows, true))),
)
.nulls(Nulls::Never)
.notation(Notation::Postfix)
.infallible();

//! `IS_ALPHA`, `IS_DIGIT` and `IS_DECIMAL`: what a text consists of. NULL consists of nothing.

use std::sync::Arc;

use aquifer_types::Decimal;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;

use crate::column::Column;
use crate::definition::{BuiltIn, Kernel, Nulls};
use crate::error::Result;
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text], Returns::Boolean)];

fn kernel(is: fn(&str) -> bool) -> Result<Kernel> {
    Ok(Box::new(move |columns, context| {
        let texts = columns[0].array().as_string::<i32>();
        let bits = BooleanBuffer::collect_bool(context.rows, |row| {
            let at = columns[0].position(row);
            texts.is_valid(at) && is(texts.value(at))
        });
        Ok(Column::Array(Arc::new(BooleanArray::new(bits, None))))
    }))
}

pub(super) const IS_ALPHA: BuiltIn = BuiltIn::new(
    "IS_ALPHA",
    "Whether all characters are letters.",
    SIGNATURES,
    |_| kernel(|text| !text.is_empty() && text.chars().all(char::is_alphabetic)),
)
.nulls(Nulls::Never)
.infallible();

pub(super) const IS_DIGIT: BuiltIn = BuiltIn::new(
    "IS_DIGIT",
    "Whether all characters are digits.",
    SIGNATURES,
    |_| kernel(|text| !text.is_empty() && text.chars().all(char::is_numeric)),
)
.nulls(Nulls::Never)
.infallible();

pub(super) const IS_DECIMAL: BuiltIn = BuiltIn::new(
    "IS_DECIMAL",
    "Whether the text is a number.",
    SIGNATURES,
    |_| kernel(|text| text.parse::<Decimal>().is_ok()),
)
.nulls(Nulls::Never)
.infallible();

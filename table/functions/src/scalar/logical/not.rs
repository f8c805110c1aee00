//! `NOT`.

use std::sync::Arc;

use arrow_array::cast::AsArray;

use crate::column::Column;
use crate::definition::{BuiltIn, Notation};
use crate::signature::{Kind, Returns, Signature};

pub(super) const NOT: BuiltIn = BuiltIn::new(
    "NOT",
    "TRUE if the condition is FALSE, FALSE if it is TRUE, NULL if it is NULL.",
    &[Signature::new(&[Kind::Boolean], Returns::Boolean)],
    |_| {
        Ok(Box::new(|columns, _| {
            let result = Arc::new(arrow_arith::boolean::not(columns[0].array().as_boolean())?);
            Ok(if columns[0].is_scalar() {
                Column::Scalar(result)
            } else {
                Column::Array(result)
            })
        }))
    },
)
.notation(Notation::Infix)
.infallible();

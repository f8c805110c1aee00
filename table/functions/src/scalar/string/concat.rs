//! `CONCAT` and `||`.

use arrow_array::cast::AsArray;

use crate::definition::{BuiltIn, Notation};
use crate::kernel::rows::{for_bytes_rows, for_text_rows};
use crate::signature::{Kind, Returns, Signature};

pub(super) const CONCAT: BuiltIn = BuiltIn::new(
    "CONCAT",
    "The texts one after the other; NULL if one is NULL.",
    &[
        Signature::variadic(&[Kind::Text], Kind::Text, Returns::String),
        Signature::variadic(&[Kind::Binary], Kind::Binary, Returns::Bytes),
    ],
    |args| {
        if args.result.is_string() {
            return Ok(Box::new(|columns, context| {
                let texts: Vec<_> = columns
                    .iter()
                    .map(|c| (c, c.array().as_string::<i32>()))
                    .collect();
                for_text_rows(columns, context.rows, |row, out| {
                    texts
                        .iter()
                        .for_each(|(c, text)| out.push_str(text.value(c.position(row))));
                    Ok(true)
                })
            }));
        }
        Ok(Box::new(|columns, context| {
            let parts: Vec<_> = columns
                .iter()
                .map(|c| (c, c.array().as_binary::<i32>()))
                .collect();
            for_bytes_rows(columns, context.rows, |row, out| {
                parts.iter().for_each(|(c, part)| {
                    out.extend_from_slice(part.value(c.position(row)));
                });
                Ok(true)
            })
        }))
    },
)
.aliases(&["||"])
.notation(Notation::Call)
.infallible();

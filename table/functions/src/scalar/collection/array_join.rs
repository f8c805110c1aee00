//! `ARRAY_JOIN`: the elements of an array of texts as one text.

use aquifer_types::DataTypes;
use arrow_array::Array;
use arrow_array::cast::AsArray;

use super::lists::{Lists, strings};
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::kernel::rows::for_text_rows;
use crate::signature::{Inferred, Kind};

pub(super) const ARRAY_JOIN: BuiltIn = BuiltIn::with(
    "ARRAY_JOIN",
    "The elements with a text between them; NULL elements are left out, or replaced by a third argument.",
    Inference::Custom(
        &[
            "ARRAY_JOIN(<ARRAY OF CHARACTER_STRING>, <CHARACTER_STRING>)",
            "ARRAY_JOIN(<ARRAY OF CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)",
        ],
        |arguments| {
            let (array, texts) = arguments.split_first()?;
            if !(1..=2).contains(&texts.len()) {
                return None;
            }
            let mut types = vec![strings(array)?];
            for text in texts {
                types.push(Kind::Text.accept(text)?);
            }
            let nullable = types.iter().any(|t| t.nullable);
            let result = DataTypes::string().with_nullable(nullable);
            Some(Inferred { arguments: types, result })
        },
    ),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, context| {
            let lists = Lists::of(&columns[0]);
            let elements = lists.elements().as_string::<i32>();
            let texts: Vec<_> = columns[1..].iter().map(|c| c.array().as_string::<i32>()).collect();
            for_text_rows(columns, context.rows, |row, out| {
                let Some(range) = lists.range(row) else { return Ok(false) };
                let separator = texts[0].value(columns[1].position(row));
                let replacement =
                    texts.get(1).map(|t| t.value(columns[2].position(row)));
                let mut first = true;
                for i in range {
                    let element = if elements.is_valid(i) {
                        Some(elements.value(i))
                    } else {
                        replacement
                    };
                    let Some(element) = element else { continue };
                    if !first {
                        out.push_str(separator);
                    }
                    first = false;
                    out.push_str(element);
                }
                Ok(true)
            })
        }))
    }),
)
.infallible();

//! `TRANSLATE`.

use aquifer_types::DataTypes;
use arrow_array::Array;
use arrow_array::cast::AsArray;

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::kernel::rows::for_text_rows;
use crate::signature::{Inferred, Kind};

pub(super) const TRANSLATE: BuiltIn = BuiltIn::with(
    "TRANSLATE",
    "The first text with each character of the second replaced by the one of the third at the same position, or dropped.",
    Inference::Custom(
        &["TRANSLATE(<CHARACTER_STRING>, <CHARACTER_STRING>, <CHARACTER_STRING>)"],
        |arguments| {
            let [text, _, _] = arguments else { return None };
            let nullable = text.data_type.nullable;
            let types = arguments.iter().map(|a| Kind::Text.accept(a)).collect::<Option<_>>()?;
            Some(Inferred { arguments: types, result: DataTypes::string().with_nullable(nullable) })
        },
    ),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, context| {
            let texts: Vec<_> = columns.iter().map(|c| c.array().as_string::<i32>()).collect();
            for_text_rows(&columns[..1], context.rows, |row, out| {
                let text = texts[0].value(columns[0].position(row));
                let other = |i: usize| {
                    let at = columns[i].position(row);
                    texts[i].is_valid(at).then(|| texts[i].value(at))
                };
                // Nothing to look for leaves the text, nothing to put drops the characters.
                let Some(from) = other(1) else {
                    out.push_str(text);
                    return Ok(true);
                };
                let to: Vec<char> = other(2).unwrap_or_default().chars().collect();
                for c in text.chars() {
                    match from.chars().position(|f| f == c) {
                        None => out.push(c),
                        Some(at) => out.extend(to.get(at)),
                    }
                }
                Ok(true)
            })
        }))
    }),
)
.infallible();

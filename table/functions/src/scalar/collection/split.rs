//! `SPLIT`: a text as an array of its parts.

use std::sync::Arc;

use aquifer_types::DataTypes;
use arrow_array::Array;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::signature::{Inferred, Kind};

pub(super) const SPLIT: BuiltIn = BuiltIn::with(
    "SPLIT",
    "The parts of a text between separators; its characters if the separator is empty.",
    Inference::Custom(
        &["SPLIT(<CHARACTER_STRING>, <CHARACTER_STRING>)"],
        |arguments| {
            let [text, separator] = arguments else {
                return None;
            };
            let types = vec![Kind::Text.accept(text)?, Kind::Text.accept(separator)?];
            let nullable = types.iter().any(|t| t.nullable);
            let result = DataTypes::array(DataTypes::string()).with_nullable(nullable);
            Some(Inferred {
                arguments: types,
                result,
            })
        },
    ),
    Implementation::Kernel(|_| {
        Ok(Box::new(|columns, context| {
            let texts = columns[0].array().as_string::<i32>();
            let separators = columns[1].array().as_string::<i32>();
            let mut builder = ListBuilder::new(StringBuilder::new());
            for row in 0..context.rows {
                let (at, by) = (columns[0].position(row), columns[1].position(row));
                if texts.is_null(at) || separators.is_null(by) {
                    builder.append_null();
                    continue;
                }
                let (text, separator) = (texts.value(at), separators.value(by));
                if separator.is_empty() {
                    for c in text.chars() {
                        builder.values().append_value(c.encode_utf8(&mut [0; 4]));
                    }
                } else {
                    text.split(separator)
                        .for_each(|part| builder.values().append_value(part));
                }
                builder.append(true);
            }
            Ok(Column::Array(Arc::new(builder.finish())))
        }))
    }),
)
.infallible();

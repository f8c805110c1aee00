//! `CONCAT_WS`.

use aquifer_types::{DataTypes, LogicalType};
use arrow_array::Array;
use arrow_array::cast::AsArray;

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::kernel::rows::for_text_rows;
use crate::signature::{Inferred, Kind};

pub(super) const CONCAT_WS: BuiltIn = BuiltIn::with(
    "CONCAT_WS",
    "The texts that are not NULL with the first text between them; NULL if that is NULL.",
    Inference::Custom(
        &["CONCAT_WS(<CHARACTER_STRING>, <CHARACTER_STRING>...)"],
        |arguments| {
            let types: Vec<_> = arguments
                .iter()
                .map(|a| Kind::Text.accept(a))
                .collect::<Option<_>>()?;
            let nullable = types.first()?.nullable;
            Some(Inferred {
                arguments: types,
                result: DataTypes::string().with_nullable(nullable),
            })
        },
    ),
    Implementation::Kernel(|args| {
        debug_assert!(matches!(args.result.logical, LogicalType::VarChar(_)));
        Ok(Box::new(|columns, context| {
            let (separators, rest) = (columns[0].array().as_string::<i32>(), &columns[1..]);
            let texts: Vec<_> = rest
                .iter()
                .map(|c| (c, c.array().as_string::<i32>()))
                .collect();
            for_text_rows(&columns[..1], context.rows, |row, out| {
                let separator = separators.value(columns[0].position(row));
                let mut first = true;
                for (column, text) in &texts {
                    let at = column.position(row);
                    if text.is_null(at) {
                        continue;
                    }
                    if !first {
                        out.push_str(separator);
                    }
                    first = false;
                    out.push_str(text.value(at));
                }
                Ok(true)
            })
        }))
    }),
)
.infallible();

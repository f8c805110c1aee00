//! `ARRAY_APPEND`, `ARRAY_PREPEND` and `ARRAY_CONCAT`.

use aquifer_types::{DataTypes, LogicalType};

use super::lists::{Lists, array_and_element, arrays, build};
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::Result;
use crate::signature::{Argument, Inferred};

fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [array, value] = arguments else {
        return None;
    };
    let types = array_and_element(array, value)?;
    let LogicalType::Array(element) = &types[0].logical else {
        return None;
    };
    let nullable = element.nullable || value.data_type.nullable;
    let result = DataTypes::array(element.as_ref().clone().with_nullable(nullable))
        .with_nullable(array.data_type.nullable);
    Some(Inferred {
        arguments: types,
        result,
    })
}

fn kernel(args: &KernelArgs<'_>, at_end: bool) -> Result<Kernel> {
    let result = args.result.clone();
    Ok(Box::new(move |columns, context| {
        let lists = Lists::of(&columns[0]);
        let sources = [lists.elements(), columns[1].array()];
        build(&result, context.rows, &sources, |row, out| {
            let Some(range) = lists.range(row) else {
                return Ok(false);
            };
            let value = (1, columns[1].position(row));
            if !at_end {
                out.push(value);
            }
            out.extend(range.map(|i| (0, i)));
            if at_end {
                out.push(value);
            }
            Ok(true)
        })
    }))
}

pub(super) const ARRAY_APPEND: BuiltIn = BuiltIn::with(
    "ARRAY_APPEND",
    "The array with a value after its last element.",
    Inference::Custom(&["ARRAY_APPEND(<ARRAY>, <ELEMENT>)"], infer),
    Implementation::Kernel(|args| kernel(args, true)),
)
.infallible();

pub(super) const ARRAY_PREPEND: BuiltIn = BuiltIn::with(
    "ARRAY_PREPEND",
    "The array with a value before its first element.",
    Inference::Custom(&["ARRAY_PREPEND(<ARRAY>, <ELEMENT>)"], infer),
    Implementation::Kernel(|args| kernel(args, false)),
)
.infallible();

pub(super) const ARRAY_CONCAT: BuiltIn = BuiltIn::with(
    "ARRAY_CONCAT",
    "The elements of all arrays; NULL if one is NULL.",
    Inference::Custom(&["ARRAY_CONCAT(<ARRAY>...)"], arrays),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists: Vec<Lists<'_>> = columns.iter().map(Lists::of).collect();
            let sources: Vec<_> = lists.iter().map(Lists::elements).collect();
            build(&result, context.rows, &sources, |row, out| {
                let before = out.len();
                for (source, list) in lists.iter().enumerate() {
                    let Some(range) = list.range(row) else {
                        out.truncate(before);
                        return Ok(false);
                    };
                    out.extend(range.map(|i| (source, i)));
                }
                Ok(true)
            })
        }))
    }),
)
.infallible();

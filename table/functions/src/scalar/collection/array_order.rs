//! `ARRAY_MAX`, `ARRAY_MIN`, `ARRAY_REVERSE`, `ARRAY_SLICE` and `ARRAY_SORT`.

use aquifer_types::LogicalType;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, UInt32Array};
use arrow_select::take::take;

use super::lists::{Lists, build, comparator, element_type, one_array};
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, Nulls};
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

/// Whether the elements of an array have an order.
fn is_ordered(argument: &Argument<'_>) -> bool {
    element_type(argument)
        .is_some_and(|e| e.logical.is_comparable() && e.logical != LogicalType::Boolean)
}

fn extremum(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [array] = arguments else { return None };
    let element = is_ordered(array).then(|| element_type(array)).flatten()?;
    Some(Inferred {
        arguments: vec![array.data_type.clone()],
        result: element.clone().null(),
    })
}

fn extremum_kernel(greatest: bool) -> Result<Kernel> {
    Ok(Box::new(move |columns, context| {
        let lists = Lists::of(&columns[0]);
        let elements = lists.elements();
        let order = comparator(elements, elements)?;
        let places: UInt32Array = (0..context.rows)
            .map(|row| {
                let present = lists.range(row)?.filter(|i| elements.is_valid(*i));
                let best = if greatest {
                    present.max_by(|a, b| order(*a, *b))
                } else {
                    present.min_by(|a, b| order(*a, *b))
                };
                best.map(|i| i as u32)
            })
            .collect();
        Ok(Column::Array(take(elements, &places, None)?))
    }))
}

pub(super) const ARRAY_MAX: BuiltIn = BuiltIn::with(
    "ARRAY_MAX",
    "The greatest element that is not NULL; NULL if there is none.",
    Inference::Custom(&["ARRAY_MAX(<ARRAY>)"], extremum),
    Implementation::Kernel(|_| extremum_kernel(true)),
);

pub(super) const ARRAY_MIN: BuiltIn = BuiltIn::with(
    "ARRAY_MIN",
    "The least element that is not NULL; NULL if there is none.",
    Inference::Custom(&["ARRAY_MIN(<ARRAY>)"], extremum),
    Implementation::Kernel(|_| extremum_kernel(false)),
);

pub(super) const ARRAY_REVERSE: BuiltIn = BuiltIn::with(
    "ARRAY_REVERSE",
    "The elements from the last to the first.",
    Inference::Custom(&["ARRAY_REVERSE(<ARRAY>)"], one_array),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            build(&result, context.rows, &[lists.elements()], |row, out| {
                let Some(range) = lists.range(row) else {
                    return Ok(false);
                };
                out.extend(range.rev().map(|i| (0, i)));
                Ok(true)
            })
        }))
    }),
)
.infallible();

pub(super) const ARRAY_SLICE: BuiltIn = BuiltIn::with(
    "ARRAY_SLICE",
    "The elements between two positions from 1, both included; negative positions count from the end.",
    Inference::Custom(&["ARRAY_SLICE(<ARRAY>, INT)", "ARRAY_SLICE(<ARRAY>, INT, INT)"], |arguments| {
        let (array, positions) = arguments.split_first()?;
        element_type(array)?;
        if !(1..=2).contains(&positions.len()) {
            return None;
        }
        let mut types = vec![array.data_type.clone()];
        for position in positions {
            types.push(Kind::Int.accept(position)?);
        }
        let nullable = types.iter().any(|t| t.nullable);
        let result = array.data_type.clone().with_nullable(nullable);
        Some(Inferred { arguments: types, result })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            let positions: Vec<_> = columns[1..]
                .iter()
                .map(|c| (c, c.array().as_primitive::<Int32Type>()))
                .collect();
            build(&result, context.rows, &[lists.elements()], |row, out| {
                let Some(range) = lists.range(row) else { return Ok(false) };
                let length = range.len() as i64;
                let mut bounds = [1, length];
                for (bound, (column, values)) in bounds.iter_mut().zip(&positions) {
                    let at = column.position(row);
                    if values.is_null(at) {
                        return Ok(false);
                    }
                    *bound = match i64::from(values.value(at)) {
                        0 => 1,
                        n if n < 0 => length + n + 1,
                        n => n,
                    };
                }
                let (from, to) = (bounds[0].max(1), bounds[1].min(length));
                if from <= to {
                    let (from, to) = (from as usize - 1, to as usize);
                    out.extend((range.start + from..range.start + to).map(|i| (0, i)));
                }
                Ok(true)
            })
        }))
    }),
)
.infallible();

pub(super) const ARRAY_SORT: BuiltIn = BuiltIn::with(
    "ARRAY_SORT",
    "The elements in ascending order (unless FALSE follows), NULL first in ascending and last in descending order (unless said otherwise).",
    Inference::Custom(
        &[
            "ARRAY_SORT(<ARRAY>)",
            "ARRAY_SORT(<ARRAY>, BOOLEAN)",
            "ARRAY_SORT(<ARRAY>, BOOLEAN, BOOLEAN)",
        ],
        |arguments| {
            let (array, flags) = arguments.split_first()?;
            if !is_ordered(array) || flags.len() > 2 {
                return None;
            }
            let mut types = vec![array.data_type.clone()];
            for flag in flags {
                types.push(Kind::Boolean.accept(flag)?);
            }
            let nullable = types.iter().any(|t| t.nullable);
            let result = array.data_type.clone().with_nullable(nullable);
            Some(Inferred { arguments: types, result })
        },
    ),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            let elements = lists.elements();
            let order = comparator(elements, elements)?;
            let flags: Vec<_> =
                columns[1..].iter().map(|c| (c, c.array().as_boolean())).collect();
            build(&result, context.rows, &[elements], |row, out| {
                let Some(range) = lists.range(row) else { return Ok(false) };
                let mut values = [None; 2];
                for (value, (column, flags)) in values.iter_mut().zip(&flags) {
                    let at = column.position(row);
                    if flags.is_null(at) {
                        return Ok(false);
                    }
                    *value = Some(flags.value(at));
                }
                let ascending = values[0].unwrap_or(true);
                let nulls_first = values[1].unwrap_or(ascending);
                let (nulls, mut sorted): (Vec<usize>, Vec<usize>) =
                    range.partition(|i| elements.is_null(*i));
                sorted.sort_by(|a, b| if ascending { order(*a, *b) } else { order(*b, *a) });
                let (first, last) =
                    if nulls_first { (nulls, sorted) } else { (sorted, nulls) };
                out.extend(first.into_iter().chain(last).map(|i| (0, i)));
                Ok(true)
            })
        }))
    }),
)
.nulls(Nulls::Inferred);

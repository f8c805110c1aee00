//! Arrays as sets: `ARRAY_DISTINCT`, `ARRAY_EXCEPT`, `ARRAY_INTERSECT` and `ARRAY_UNION`.
//!
//! Of equal elements the first is kept; NULL equals NULL.

use super::lists::{Lists, arrays, build, comparator, one_array};
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs};
use crate::error::Result;
use crate::signature::{Argument, Inferred};

pub(super) const ARRAY_DISTINCT: BuiltIn = BuiltIn::with(
    "ARRAY_DISTINCT",
    "The array without elements that equal an earlier one.",
    Inference::Custom(&["ARRAY_DISTINCT(<ARRAY>)"], one_array),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            let same = comparator(lists.elements(), lists.elements())?;
            build(&result, context.rows, &[lists.elements()], |row, out| {
                let Some(range) = lists.range(row) else {
                    return Ok(false);
                };
                let start = range.start;
                let first = |i: &usize| !(start..*i).any(|j| same(*i, j).is_eq());
                out.extend(range.filter(first).map(|i| (0, i)));
                Ok(true)
            })
        }))
    }),
);

fn two(arguments: &[Argument<'_>]) -> Option<Inferred> {
    if arguments.len() != 2 {
        return None;
    }
    arrays(arguments)
}

/// Keeps the distinct elements of the first array that are in the second, or that are not.
fn filtered(args: &KernelArgs<'_>, keep_common: bool) -> Result<Kernel> {
    let result = args.result.clone();
    Ok(Box::new(move |columns, context| {
        let (a, b) = (Lists::of(&columns[0]), Lists::of(&columns[1]));
        let within = comparator(a.elements(), a.elements())?;
        let across = comparator(a.elements(), b.elements())?;
        build(&result, context.rows, &[a.elements()], |row, out| {
            let (Some(left), Some(right)) = (a.range(row), b.range(row)) else {
                return Ok(false);
            };
            let start = left.start;
            for i in left {
                let seen = (start..i).any(|j| within(i, j).is_eq());
                let common = right.clone().any(|j| across(i, j).is_eq());
                if !seen && common == keep_common {
                    out.push((0, i));
                }
            }
            Ok(true)
        })
    }))
}

/// The result of `EXCEPT` and `INTERSECT` has the first array's elements.
fn of_first(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let mut inferred = two(arguments)?;
    let nullable = inferred.arguments.iter().any(|t| t.nullable);
    inferred.result = inferred.result.with_nullable(nullable);
    Some(inferred)
}

pub(super) const ARRAY_EXCEPT: BuiltIn = BuiltIn::with(
    "ARRAY_EXCEPT",
    "The distinct elements of the first array that are not in the second.",
    Inference::Custom(&["ARRAY_EXCEPT(<ARRAY>, <ARRAY>)"], of_first),
    Implementation::Kernel(|args| filtered(args, false)),
);

pub(super) const ARRAY_INTERSECT: BuiltIn = BuiltIn::with(
    "ARRAY_INTERSECT",
    "The distinct elements of the first array that are in the second.",
    Inference::Custom(&["ARRAY_INTERSECT(<ARRAY>, <ARRAY>)"], of_first),
    Implementation::Kernel(|args| filtered(args, true)),
);

pub(super) const ARRAY_UNION: BuiltIn = BuiltIn::with(
    "ARRAY_UNION",
    "The distinct elements of both arrays.",
    Inference::Custom(&["ARRAY_UNION(<ARRAY>, <ARRAY>)"], two),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let (a, b) = (Lists::of(&columns[0]), Lists::of(&columns[1]));
            let in_a = comparator(a.elements(), a.elements())?;
            let in_b = comparator(b.elements(), b.elements())?;
            let across = comparator(b.elements(), a.elements())?;
            build(
                &result,
                context.rows,
                &[a.elements(), b.elements()],
                |row, out| {
                    let (Some(left), Some(right)) = (a.range(row), b.range(row)) else {
                        return Ok(false);
                    };
                    let (from_a, from_b) = (left.start, right.start);
                    let fresh = |i: &usize| !(from_a..*i).any(|j| in_a(*i, j).is_eq());
                    out.extend(left.clone().filter(fresh).map(|i| (0, i)));
                    let fresh = |i: &usize| {
                        !(from_b..*i).any(|j| in_b(*i, j).is_eq())
                            && !left.clone().any(|j| across(*i, j).is_eq())
                    };
                    out.extend(right.filter(fresh).map(|i| (1, i)));
                    Ok(true)
                },
            )
        }))
    }),
);

//! `OVERLAPS`: whether two periods, each of two points or of a point and an interval, have a point in
//! common. Ends may be given in any order.

use aquifer_types::{DataType, DataTypes, LogicalType};

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::Result;
use crate::expression::ResolvedExpr;
use crate::signature::Inferred;

pub(super) const OVERLAPS: BuiltIn = BuiltIn::with(
    "OVERLAPS",
    "Whether two periods, each a ROW of begin and end or of begin and length, have a point in common.",
    Inference::Custom(&["(<POINT>, <POINT OR INTERVAL>) OVERLAPS (<POINT>, <POINT OR INTERVAL>)"], |arguments| {
        let [first, second] = arguments else { return None };
        let mut nullable = false;
        for period in [first, second] {
            let [begin, end] = period.data_type.fields()? else { return None };
            let ends = end.data_type.logical.is_datetime() || end.data_type.logical.is_interval();
            if !begin.data_type.logical.is_datetime() || !ends {
                return None;
            }
            nullable |= period.data_type.nullable
                || begin.data_type.nullable
                || end.data_type.nullable;
        }
        Some(Inferred {
            arguments: vec![first.data_type.clone(), second.data_type.clone()],
            result: DataTypes::boolean().with_nullable(nullable),
        })
    }),
    Implementation::Rewrite(rewrite),
)
.infallible();

/// The two ends of a period, the earlier one first.
fn ends(period: &ResolvedExpr) -> Result<[ResolvedExpr; 2]> {
    let part = |index: usize| match period {
        ResolvedExpr::Call { function, args, .. } if function == "ROW" => Ok(args[index].clone()),
        _ => ResolvedExpr::call(
            "ITEM",
            [period.clone(), ResolvedExpr::literal(index as i32 + 1)],
        ),
    };
    let (begin, mut end) = (part(0)?, part(1)?);
    if end.data_type().logical.is_interval() {
        // A time of day goes on into the next day: it is compared as a timestamp.
        let begin = as_timestamp(begin)?;
        end = ResolvedExpr::call("+", [begin.clone(), end])?;
        return Ok([
            ResolvedExpr::call("LEAST", [begin.clone(), end.clone()])?,
            ResolvedExpr::call("GREATEST", [begin, end])?,
        ]);
    }
    let (begin, end) = (as_timestamp(begin)?, as_timestamp(end)?);
    Ok([
        ResolvedExpr::call("LEAST", [begin.clone(), end.clone()])?,
        ResolvedExpr::call("GREATEST", [begin, end])?,
    ])
}

fn as_timestamp(point: ResolvedExpr) -> Result<ResolvedExpr> {
    match point.data_type().logical {
        LogicalType::Date | LogicalType::Time(_) => point.cast(DataTypes::timestamp(3)),
        _ => Ok(point),
    }
}

fn rewrite(args: &[ResolvedExpr], _: &DataType) -> Result<ResolvedExpr> {
    let [a, b] = args else {
        unreachable!("OVERLAPS is inferred with two arguments")
    };
    let ([a_begin, a_end], [b_begin, b_end]) = (ends(a)?, ends(b)?);
    ResolvedExpr::and([
        ResolvedExpr::call(">=", [a_end, b_begin])?,
        ResolvedExpr::call(">=", [b_end, a_begin])?,
    ])
}

//! `TIMESTAMPADD`: a point in time moved on by a number of units.

use aquifer_types::{DataType, DataTypes, LogicalType, Value};

use super::unit::Unit;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::Result;
use crate::expression::ResolvedExpr;
use crate::signature::{Inferred, Kind};

pub(super) const TIMESTAMPADD: BuiltIn = BuiltIn::with(
    "TIMESTAMPADD",
    "A point in time moved on by a number of units.",
    Inference::Custom(
        &["TIMESTAMPADD(<UNIT>, <INTEGER>, <DATETIME>)"],
        |arguments| {
            let [unit, count, point] = arguments else {
                return None;
            };
            let name = Unit::of(unit.text()?)?;
            let count = Kind::BigInt.accept(count)?;
            let point = match point.data_type.logical {
                // Hours of a date make it a timestamp.
                LogicalType::Date if name.micros().is_some() => {
                    DataTypes::timestamp(6).with_nullable(point.data_type.nullable)
                }
                LogicalType::Date
                | LogicalType::Time(_)
                | LogicalType::Timestamp(_)
                | LogicalType::TimestampLtz(_) => point.data_type.clone(),
                LogicalType::Null => DataTypes::timestamp(3),
                _ => return None,
            };
            interval(name)?;
            let result = point
                .clone()
                .with_nullable(point.nullable || count.nullable);
            Some(Inferred {
                arguments: vec![unit.data_type.clone(), count, point],
                result,
            })
        },
    ),
    Implementation::Rewrite(rewrite),
)
.infallible();

/// The interval of one unit.
fn interval(unit: Unit) -> Option<Value> {
    if let Some(months) = unit.months() {
        return Some(Value::IntervalYearMonth(months as i32));
    }
    let millis = match unit {
        Unit::Week => 7 * 86_400_000,
        Unit::Day => 86_400_000,
        Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond => unit.micros()? / 1000,
        _ => return None,
    };
    Some(Value::IntervalDayTime(millis))
}

fn rewrite(args: &[ResolvedExpr], _: &DataType) -> Result<ResolvedExpr> {
    let [unit, count, point] = args else {
        unreachable!("TIMESTAMPADD is inferred with three arguments")
    };
    let unit = unit.as_literal().and_then(Value::as_str);
    let unit = Unit::of_literal(unit, "TIMESTAMPADD", 1)?;
    let is_time = matches!(point.data_type().logical, LogicalType::Time(_));
    if is_time && unit.months().is_some() {
        // A time of day is the same after whole days.
        return Ok(point.clone());
    }
    let one = interval(unit).unwrap_or(Value::IntervalDayTime(0));
    let count = match one {
        Value::IntervalYearMonth(_) => count.clone().cast(DataTypes::int())?,
        _ => count.clone(),
    };
    let span = ResolvedExpr::call("*", [ResolvedExpr::literal(one), count])?;
    ResolvedExpr::call("+", [point.clone(), span])
}

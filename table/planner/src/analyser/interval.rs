//! INTERVAL literals.
//!
//! `INTERVAL '1' DAY`, `INTERVAL '1-6' YEAR TO MONTH`, `INTERVAL '1 02:03:04.5' DAY TO SECOND`.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_types::{DataTypes, Value};
use sqlparser::ast::{DateTimeField, Expr, Interval, UnaryOperator, Value as SqlValue};

use super::Analyser;
use super::begin::begin_of_expr;

/// A unit of an interval, largest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    fn of(field: &DateTimeField) -> Option<(Unit, i64)> {
        Some(match field {
            DateTimeField::Year | DateTimeField::Years => (Unit::Year, 1),
            DateTimeField::Quarter => (Unit::Month, 3),
            DateTimeField::Month | DateTimeField::Months => (Unit::Month, 1),
            DateTimeField::Week(None) | DateTimeField::Weeks => (Unit::Day, 7),
            DateTimeField::Day | DateTimeField::Days => (Unit::Day, 1),
            DateTimeField::Hour | DateTimeField::Hours => (Unit::Hour, 1),
            DateTimeField::Minute | DateTimeField::Minutes => (Unit::Minute, 1),
            DateTimeField::Second | DateTimeField::Seconds => (Unit::Second, 1),
            _ => return None,
        })
    }

    /// Months for YEAR and MONTH, milliseconds for the others.
    fn size(self) -> i64 {
        match self {
            Unit::Year => 12,
            Unit::Month => 1,
            Unit::Day => 86_400_000,
            Unit::Hour => 3_600_000,
            Unit::Minute => 60_000,
            Unit::Second => 1_000,
        }
    }
}

impl Analyser<'_> {
    /// An INTERVAL literal.
    pub(super) fn interval(&self, interval: &Interval) -> Result<ResolvedExpr> {
        let span = begin_of_expr(&interval.value);
        let (text, is_negative) = match interval.value.as_ref() {
            Expr::Value(value) => (&value.value, false),
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => match expr.as_ref() {
                Expr::Value(value) => (&value.value, true),
                _ => return Err(self.unsupported("an INTERVAL of an expression", span)),
            },
            _ => return Err(self.unsupported("an INTERVAL of an expression", span)),
        };
        let SqlValue::SingleQuotedString(text) = text else {
            return Err(self.unsupported("an INTERVAL without quotes around the value", span));
        };
        let unit = |field: &Option<DateTimeField>| match field {
            Some(field) => Unit::of(field)
                .map(Some)
                .ok_or_else(|| self.unsupported(format!("the interval unit {field}"), span)),
            None => Ok(None),
        };
        let first = unit(&interval.leading_field)?;
        let last = unit(&interval.last_field)?;
        let Some((first, times)) = first else {
            return Err(self.unsupported("an INTERVAL without a unit", span));
        };
        let last = last.map_or(first, |(unit, _)| unit);
        let bad = |reason: &str| self.bad_literal(format!("INTERVAL '{text}'"), reason, span);
        if last < first || (first <= Unit::Month) != (last <= Unit::Month) {
            return Err(bad("these units do not belong together"));
        }
        let amount = parse_amount(text, first, last)
            .ok_or_else(|| bad("the value does not fit the unit"))?;
        let amount = amount.checked_mul(if is_negative { -times } else { times });
        let amount = amount.ok_or_else(|| bad("it is too long"))?;
        let (value, data_type) = if first <= Unit::Month {
            let months = i32::try_from(amount).map_err(|_| bad("it is too long"))?;
            (
                Value::IntervalYearMonth(months),
                DataTypes::interval_year_month(),
            )
        } else {
            (
                Value::IntervalDayTime(amount),
                DataTypes::interval_day_time(),
            )
        };
        Ok(ResolvedExpr::typed_literal(value, data_type.not_null()))
    }
}

/// Reads `[+-]a<sep>b<sep>..` with one number per unit from `first` to `last`.
fn parse_amount(text: &str, first: Unit, last: Unit) -> Option<i64> {
    const UNITS: [Unit; 6] = [
        Unit::Year,
        Unit::Month,
        Unit::Day,
        Unit::Hour,
        Unit::Minute,
        Unit::Second,
    ];
    let text = text.trim();
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut amount = 0i64;
    for unit in UNITS.into_iter().filter(|u| first <= *u && *u <= last) {
        let part = if unit == last {
            std::mem::take(&mut rest)
        } else {
            let separator = match unit {
                Unit::Year => '-',
                Unit::Day => ' ',
                _ => ':',
            };
            let (part, tail) = rest.split_once(separator)?;
            rest = tail;
            part
        };
        let (whole, fraction) = match part.split_once('.') {
            Some((whole, fraction)) if unit == Unit::Second => (whole, fraction),
            Some(_) => return None,
            None => (part, ""),
        };
        if whole.is_empty()
            || !whole
                .bytes()
                .chain(fraction.bytes())
                .all(|b| b.is_ascii_digit())
        {
            return None;
        }
        amount = amount.checked_add(whole.parse::<i64>().ok()?.checked_mul(unit.size())?)?;
        if !fraction.is_empty() {
            let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
            amount = amount.checked_add(millis.parse().ok()?)?;
        }
    }
    Some(sign * amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(parse_amount("1", Unit::Day, Unit::Day), Some(86_400_000));
        assert_eq!(parse_amount("-1-6", Unit::Year, Unit::Month), Some(-18));
        assert_eq!(
            parse_amount("1 02:03:04.5", Unit::Day, Unit::Second),
            Some(93_784_500)
        );
        assert_eq!(
            parse_amount("02:30", Unit::Hour, Unit::Minute),
            Some(9_000_000)
        );
        assert_eq!(parse_amount("0.25", Unit::Second, Unit::Second), Some(250));
        for bad in ["", "x", "1.5", "1 2", "99999999999999999999"] {
            assert_eq!(parse_amount(bad, Unit::Day, Unit::Day), None, "{bad}");
        }
    }
}

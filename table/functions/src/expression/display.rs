//! Expressions as text, as EXPLAIN shows them.

use std::fmt;

use aquifer_types::{LogicalType, Value, temporal};

use super::ResolvedExpr;
use crate::definition::Notation;
use crate::scalar::find_function;

/// An expression that prints with the names of its input's columns.
#[derive(Debug)]
pub struct DisplayWith<'a> {
    expr: &'a ResolvedExpr,
    names: &'a [String],
}

impl ResolvedExpr {
    /// Returns this expression to be printed with the names of the input's columns.
    #[must_use]
    pub fn display_with<'a>(&'a self, names: &'a [String]) -> DisplayWith<'a> {
        DisplayWith { expr: self, names }
    }
}

impl fmt::Display for DisplayWith<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self.expr, self.names)
    }
}

impl fmt::Display for ResolvedExpr {
    /// Columns without names print as `$0`, `$1` and so on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self, &[])
    }
}

fn write_expr(f: &mut fmt::Formatter<'_>, expr: &ResolvedExpr, names: &[String]) -> fmt::Result {
    match expr {
        ResolvedExpr::Literal { value, data_type } => write_literal(f, value, &data_type.logical),
        ResolvedExpr::InputRef { index, .. } => match names.get(*index) {
            Some(name) => f.write_str(name),
            None => write!(f, "${index}"),
        },
        ResolvedExpr::Call { function, args, .. } => {
            let notation = find_function(function).map_or(Notation::Call, |d| d.notation());
            match (notation, args.as_slice()) {
                (Notation::Infix, [one]) => {
                    write!(f, "{function} ")?;
                    write_expr(f, one, names)
                }
                (Notation::Infix, [first, rest @ ..]) => {
                    f.write_str("(")?;
                    write_expr(f, first, names)?;
                    for arg in rest {
                        write!(f, " {function} ")?;
                        write_expr(f, arg, names)?;
                    }
                    f.write_str(")")
                }
                (Notation::Postfix, [one]) => {
                    write_expr(f, one, names)?;
                    write!(f, " {function}")
                }
                (Notation::Bare, []) => f.write_str(function),
                (_, args) => {
                    write!(f, "{function}(")?;
                    for (i, arg) in args.iter().enumerate() {
                        if i > 0 {
                            f.write_str(", ")?;
                        }
                        write_expr(f, arg, names)?;
                    }
                    f.write_str(")")
                }
            }
        }
        ResolvedExpr::Cast {
            expr,
            data_type,
            try_,
        } => {
            f.write_str(if *try_ { "TRY_CAST(" } else { "CAST(" })?;
            write_expr(f, expr, names)?;
            write!(f, " AS {})", data_type.logical)
        }
        ResolvedExpr::Case {
            branches,
            otherwise,
            ..
        } => {
            f.write_str("CASE")?;
            for (condition, result) in branches {
                f.write_str(" WHEN ")?;
                write_expr(f, condition, names)?;
                f.write_str(" THEN ")?;
                write_expr(f, result, names)?;
            }
            f.write_str(" ELSE ")?;
            write_expr(f, otherwise, names)?;
            f.write_str(" END")
        }
    }
}

fn write_literal(f: &mut fmt::Formatter<'_>, value: &Value, logical: &LogicalType) -> fmt::Result {
    match value {
        Value::Null => f.write_str("NULL"),
        Value::Boolean(v) => f.write_str(if *v { "TRUE" } else { "FALSE" }),
        Value::String(v) => write!(f, "'{}'", v.replace('\'', "''")),
        Value::Bytes(v) => {
            f.write_str("X'")?;
            v.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
            f.write_str("'")
        }
        Value::Date(v) => write!(f, "DATE '{}'", temporal::format_date(*v)),
        Value::Time(v) => match logical {
            LogicalType::Time(p) => write!(f, "TIME '{}'", temporal::format_time(*v, *p)),
            _ => write!(f, "TIME '{value}'"),
        },
        Value::Timestamp(v) => write!(f, "TIMESTAMP '{}'", temporal::format_timestamp(*v, 0)),
        Value::TimestampLtz(v) => {
            write!(f, "TIMESTAMP_LTZ '{}'", temporal::format_timestamp(*v, 0))
        }
        Value::IntervalYearMonth(v) => {
            write!(
                f,
                "INTERVAL '{}' YEAR TO MONTH",
                temporal::format_interval_year_month(*v)
            )
        }
        Value::IntervalDayTime(v) => {
            write!(
                f,
                "INTERVAL '{}' DAY TO SECOND",
                temporal::format_interval_day_time(*v)
            )
        }
        _ => write!(f, "{value}"),
    }
}

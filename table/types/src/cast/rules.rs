//! Which casts exist, and which of them the planner may insert by itself.

use crate::data_type::{DataType, LogicalType};

/// Returns whether values of a type can be used where another type is expected, without a cast
/// being written.
#[must_use]
pub fn supports_implicit_cast(from: &DataType, to: &DataType) -> bool {
    (to.nullable || !from.nullable) && cast(from, to, false)
}

/// Returns whether `CAST(x AS to)` is allowed for an `x` of the type `from`.
#[must_use]
pub fn supports_explicit_cast(from: &DataType, to: &DataType) -> bool {
    cast(from, to, true)
}

fn cast(from: &DataType, to: &DataType, explicit: bool) -> bool {
    use LogicalType as T;
    let (f, t) = (&from.logical, &to.logical);
    let inner = |x: &DataType, y: &DataType| cast(x, y, explicit);
    match (f, t) {
        (T::Null, _) => to.nullable,
        _ if f == t => true,
        (T::Array(x), T::Array(y)) | (T::Multiset(x), T::Multiset(y)) => inner(x, y),
        (T::Map(k, v), T::Map(l, w)) => inner(k, l) && inner(v, w),
        (T::Row(x), T::Row(y)) => {
            x.len() == y.len()
                && x.iter()
                    .zip(y)
                    .all(|(x, y)| inner(&x.data_type, &y.data_type))
        }
        // Text: from text always; from anything else on demand.
        (T::Char(_), T::VarChar(_)) => true,
        (T::Char(n), T::Char(m)) | (T::VarChar(n), T::VarChar(m)) if n <= m => true,
        (T::VarChar(_), T::VarChar(_)) => true,
        (_, T::Char(_) | T::VarChar(_)) => explicit,
        (T::Char(_) | T::VarChar(_), _) => {
            explicit
                && (t.is_numeric()
                    || t.is_datetime()
                    || t.is_binary()
                    || matches!(t, T::Boolean | T::IntervalYearMonth | T::IntervalDayTime))
        }
        (T::Binary(_) | T::VarBinary(_), T::VarBinary(_)) => true,
        (T::Binary(_) | T::VarBinary(_), T::Binary(_)) => explicit,
        (T::Boolean, _) => explicit && t.is_numeric(),
        (_, T::Boolean) => explicit && f.is_integer(),
        _ if f.is_numeric() && t.is_numeric() => explicit || widens(f, t),
        (T::Date, T::Timestamp(_) | T::TimestampLtz(_)) => true,
        (T::Timestamp(_) | T::TimestampLtz(_), T::Date | T::Time(_)) => explicit,
        (T::Time(_), T::Timestamp(_) | T::TimestampLtz(_)) => explicit,
        (T::Time(_), T::Time(_)) => true,
        (T::Timestamp(_) | T::TimestampLtz(_), T::Timestamp(_) | T::TimestampLtz(_)) => true,
        _ => false,
    }
}

/// Whether a number type is taken for another without being asked.
fn widens(from: &LogicalType, to: &LogicalType) -> bool {
    use LogicalType as T;
    match to {
        T::SmallInt => matches!(from, T::TinyInt),
        T::Int => matches!(from, T::TinyInt | T::SmallInt),
        T::BigInt => matches!(from, T::TinyInt | T::SmallInt | T::Int),
        T::Decimal { .. } => from.is_integer() || from.is_decimal(),
        T::Float => from.is_integer() || from.is_decimal(),
        T::Double => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let check = |from: &str, to: &str, implicit: bool, explicit: bool| {
            let (from, to): (DataType, DataType) = (from.parse().unwrap(), to.parse().unwrap());
            assert_eq!(
                supports_implicit_cast(&from, &to),
                implicit,
                "{from} to {to}, implicit"
            );
            assert_eq!(
                supports_explicit_cast(&from, &to),
                explicit,
                "{from} to {to}"
            );
        };
        check("INT", "BIGINT", true, true);
        check("INT", "BIGINT NOT NULL", false, true);
        check("BIGINT", "INT", false, true);
        check("CHAR(3)", "STRING", true, true);
        check("INT", "STRING", false, true);
        check("STRING", "DATE", false, true);
        check("DOUBLE", "BOOLEAN", false, false);
        check("INT", "BOOLEAN", false, true);
        check("INT", "DATE", false, false);
        check("NULL", "DATE", true, true);
        check("DATE", "TIMESTAMP(3)", true, true);
        check("ARRAY<INT>", "ARRAY<BIGINT>", true, true);
        check("ARRAY<STRING>", "ARRAY<INT>", false, true);
        check("ROW<a INT>", "ROW<b INT, c INT>", false, false);
        check("BYTES", "INT", false, false);
    }
}

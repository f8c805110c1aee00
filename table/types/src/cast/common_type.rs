//! The smallest type that holds the values of several types.

use crate::data_type::{DataType, Field, LogicalType, MAX_PRECISION_DECIMAL};
use crate::decimal::integer_as_decimal;

/// Returns the smallest type that holds all values of all given types; nothing if there is none.
///
/// The result is nullable if one of the types is.
#[must_use]
pub fn find_common_type(types: &[DataType]) -> Option<DataType> {
    let (first, rest) = types.split_first()?;
    rest.iter().try_fold(first.clone(), |common, next| {
        let nullable = common.nullable || next.nullable;
        Some(DataType {
            logical: merge(&common.logical, &next.logical)?,
            nullable,
        })
    })
}

fn merge(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    use LogicalType as T;
    if a == b {
        return Some(a.clone());
    }
    let pair = |x: &DataType, y: &DataType| find_common_type(&[x.clone(), y.clone()]);
    Some(match (a, b) {
        (T::Null, other) | (other, T::Null) => other.clone(),
        (T::Char(n) | T::VarChar(n), T::Char(m) | T::VarChar(m)) => T::VarChar(*n.max(m)),
        (T::Binary(n) | T::VarBinary(n), T::Binary(m) | T::VarBinary(m)) => T::VarBinary(*n.max(m)),
        _ if a.is_numeric() && b.is_numeric() => merge_numeric(a, b)?,
        (T::Date, T::Timestamp(p)) | (T::Timestamp(p), T::Date) => T::Timestamp(*p),
        (T::Date, T::TimestampLtz(p)) | (T::TimestampLtz(p), T::Date) => T::TimestampLtz(*p),
        (T::Time(p), T::Time(q)) => T::Time(*p.max(q)),
        (T::Timestamp(p), T::Timestamp(q)) => T::Timestamp(*p.max(q)),
        (T::Timestamp(p) | T::TimestampLtz(p), T::Timestamp(q) | T::TimestampLtz(q)) => {
            T::TimestampLtz(*p.max(q))
        }
        (T::Array(x), T::Array(y)) => T::Array(Box::new(pair(x, y)?)),
        (T::Multiset(x), T::Multiset(y)) => T::Multiset(Box::new(pair(x, y)?)),
        (T::Map(k, v), T::Map(l, w)) => T::Map(Box::new(pair(k, l)?), Box::new(pair(v, w)?)),
        (T::Row(x), T::Row(y)) if x.len() == y.len() => T::Row(
            x.iter()
                .zip(y)
                .map(|(f, g)| {
                    let data_type = pair(&f.data_type, &g.data_type)?;
                    Some(Field {
                        name: f.name.clone(),
                        data_type,
                    })
                })
                .collect::<Option<_>>()?,
        ),
        _ => return None,
    })
}

fn merge_numeric(a: &LogicalType, b: &LogicalType) -> Option<LogicalType> {
    use LogicalType as T;
    if a.is_approximate() || b.is_approximate() {
        let double = [a, b]
            .iter()
            .any(|t| matches!(t, T::Double | T::Decimal { .. }));
        return Some(if double { T::Double } else { T::Float });
    }
    if a.is_decimal() || b.is_decimal() {
        let ((p1, s1), (p2, s2)) = (integer_as_decimal(a)?, integer_as_decimal(b)?);
        let scale = s1.max(s2);
        let precision = ((p1 - s1).max(p2 - s2) + scale).min(MAX_PRECISION_DECIMAL);
        return Some(T::Decimal { precision, scale });
    }
    let width = |t: &T| match t {
        T::TinyInt => 1,
        T::SmallInt => 2,
        T::Int => 4,
        _ => 8,
    };
    Some(if width(a) >= width(b) {
        a.clone()
    } else {
        b.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types() {
        let check = |types: &str, common: &str| {
            let types: Vec<DataType> = types
                .split('|')
                .map(|t| t.trim().parse().unwrap())
                .collect();
            let found = find_common_type(&types).map_or("none".to_owned(), |t| t.to_string());
            assert_eq!(found, common, "{types:?}");
        };
        check("INT NOT NULL | BIGINT NOT NULL", "BIGINT NOT NULL");
        check("INT NOT NULL | NULL", "INT");
        check("CHAR(3) | CHAR(3)", "CHAR(3)");
        check("CHAR(3) | CHAR(5) NOT NULL", "VARCHAR(5)");
        check("STRING | CHAR(5)", "STRING");
        check("INT | DECIMAL(5, 2)", "DECIMAL(12, 2)");
        check("DECIMAL(38, 0) | DECIMAL(38, 10)", "DECIMAL(38, 10)");
        check("DECIMAL(5, 2) | FLOAT", "DOUBLE");
        check("INT | FLOAT", "FLOAT");
        check("DATE | TIMESTAMP(3)", "TIMESTAMP(3)");
        check("TIMESTAMP(6) | TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)");
        check("ARRAY<INT> | ARRAY<BIGINT NOT NULL>", "ARRAY<BIGINT>");
        check("ROW<a INT> | ROW<b DOUBLE>", "ROW<`a` DOUBLE>");
        check("INT | STRING", "none");
        check("INT | DATE", "none");
    }
}

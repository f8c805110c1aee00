//! Comparison of columns of one type.
//!
//! Numbers compare by value with Java's rules: NaN is not equal to itself and `-0.0 = 0.0`.
//! Nested values are equal if all parts are; NULL inside of them equals NULL.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType as ArrowType, IntervalUnit, SortOptions, TimeUnit};

use crate::column::Column;
use crate::error::Result;
use crate::kernel::primitive::{compare as compare_primitive, valid_rows};

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::NotEq => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::LtEq => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::GtEq => order.is_ge(),
        }
    }
}

/// Compares two columns of the same Arrow type; NULL with anything is NULL.
pub(crate) fn compare(op: Comparison, a: &Column, b: &Column, rows: usize) -> Result<Column> {
    macro_rules! primitive {
        ($arrow:ty) => {
            match op {
                Comparison::Eq => compare_primitive::<$arrow>(a, b, rows, |x, y| x == y),
                Comparison::NotEq => compare_primitive::<$arrow>(a, b, rows, |x, y| x != y),
                Comparison::Lt => compare_primitive::<$arrow>(a, b, rows, |x, y| x < y),
                Comparison::LtEq => compare_primitive::<$arrow>(a, b, rows, |x, y| x <= y),
                Comparison::Gt => compare_primitive::<$arrow>(a, b, rows, |x, y| x > y),
                Comparison::GtEq => compare_primitive::<$arrow>(a, b, rows, |x, y| x >= y),
            }
        };
    }
    Ok(match a.array().data_type() {
        ArrowType::Int8 => primitive!(Int8Type),
        ArrowType::Int16 => primitive!(Int16Type),
        ArrowType::Int32 => primitive!(Int32Type),
        ArrowType::Int64 => primitive!(Int64Type),
        ArrowType::Float32 => primitive!(Float32Type),
        ArrowType::Float64 => primitive!(Float64Type),
        ArrowType::Date32 => primitive!(Date32Type),
        ArrowType::Time32(_) => primitive!(Time32MillisecondType),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => primitive!(TimestampNanosecondType),
        ArrowType::Timestamp(..) => primitive!(TimestampMicrosecondType),
        ArrowType::Decimal128(..) => primitive!(Decimal128Type),
        ArrowType::Duration(_) => primitive!(DurationMillisecondType),
        ArrowType::Interval(IntervalUnit::YearMonth) => primitive!(IntervalYearMonthType),
        ArrowType::Utf8 | ArrowType::Binary | ArrowType::Boolean => {
            use arrow_ord::cmp;
            let result = match op {
                Comparison::Eq => cmp::eq(a, b),
                Comparison::NotEq => cmp::neq(a, b),
                Comparison::Lt => cmp::lt(a, b),
                Comparison::LtEq => cmp::lt_eq(a, b),
                Comparison::Gt => cmp::gt(a, b),
                Comparison::GtEq => cmp::gt_eq(a, b),
            }?;
            // With two scalars Arrow returns one row.
            if a.is_scalar() && b.is_scalar() {
                Column::Scalar(Arc::new(result))
            } else {
                Column::Array(Arc::new(result))
            }
        }
        _ => nested(op, a, b, rows)?,
    })
}

fn nested(op: Comparison, a: &Column, b: &Column, rows: usize) -> Result<Column> {
    if a.is_null_scalar() || b.is_null_scalar() {
        return Ok(Column::null(&ArrowType::Boolean));
    }
    let nulls = valid_rows(&[a, b]);
    let bits = if let (ArrowType::Map(..), _) | (_, ArrowType::Map(..)) =
        (a.array().data_type(), b.array().data_type())
    {
        let (x, y) = (a.array().as_map(), b.array().as_map());
        let bits: Result<Vec<bool>> = (0..rows)
            .map(|i| {
                let valid = nulls.as_ref().is_none_or(|n| n.is_valid(i));
                let same = valid && same_maps(&x.value(a.position(i)), &y.value(b.position(i)))?;
                Ok(op.holds(if same {
                    Ordering::Equal
                } else {
                    Ordering::Less
                }))
            })
            .collect();
        BooleanBuffer::from(bits?)
    } else {
        let order = make_comparator(a.array(), b.array(), SortOptions::default())?;
        BooleanBuffer::collect_bool(rows, |i| op.holds(order(a.position(i), b.position(i))))
    };
    Ok(Column::Array(Arc::new(BooleanArray::new(bits, nulls))))
}

/// Whether two maps have the same entries, in whatever order.
fn same_maps(a: &arrow_array::StructArray, b: &arrow_array::StructArray) -> Result<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    let options = SortOptions::default();
    let keys = make_comparator(a.column(0), b.column(0), options)?;
    let values = make_comparator(a.column(1), b.column(1), options)?;
    Ok((0..a.len()).all(|i| (0..b.len()).any(|j| keys(i, j).is_eq() && values(i, j).is_eq())))
}

/// Compares two columns of the same type where NULL equals NULL; the result is never NULL.
pub(crate) fn distinct(a: &Column, b: &Column, rows: usize, negated: bool) -> Result<Column> {
    let equal = compare(Comparison::Eq, a, b, rows)?.into_array(rows)?;
    let equal = equal.as_boolean();
    let bits = BooleanBuffer::collect_bool(rows, |i| {
        let same = match (
            a.array().is_null(a.position(i)),
            b.array().is_null(b.position(i)),
        ) {
            (false, false) => equal.value(i),
            (x, y) => x == y,
        };
        same == negated
    });
    Ok(Column::Array(Arc::new(BooleanArray::new(bits, None))))
}

//! Loops over fixed-width columns and scalars.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType as ArrowType;

use crate::column::Column;
use crate::error::{FunctionError, Result};

/// Applies a total function to each pair of values.
pub(crate) fn binary<A, B, R>(
    a: &Column,
    b: &Column,
    result: &ArrowType,
    f: impl Fn(A::Native, B::Native) -> R::Native,
) -> Result<Column>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
{
    if a.is_null_scalar() || b.is_null_scalar() {
        return Ok(Column::null(result));
    }
    let (x, y) = (a.array().as_primitive::<A>(), b.array().as_primitive::<B>());
    let array: PrimitiveArray<R> = match (a.is_scalar(), b.is_scalar()) {
        (false, true) => {
            let y = y.value(0);
            x.unary(|x| f(x, y))
        }
        (true, false) => {
            let x = x.value(0);
            y.unary(|y| f(x, y))
        }
        _ => arrow_arith::arity::binary(x, y, f)?,
    };
    Ok(Column::Array(Arc::new(
        array.with_data_type(result.clone()),
    )))
}

/// Applies a function to each pair of values that are not NULL; it may fail or give NULL.
pub(crate) fn try_binary<A, B, R>(
    a: &Column,
    b: &Column,
    rows: usize,
    result: &ArrowType,
    f: impl Fn(A::Native, B::Native) -> Result<Option<R::Native>, String>,
) -> Result<Column>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
{
    if a.is_null_scalar() || b.is_null_scalar() {
        return Ok(Column::null(result));
    }
    let (x, y) = (a.array().as_primitive::<A>(), b.array().as_primitive::<B>());
    let nulls = valid_rows(&[a, b]);
    let (sa, sb) = (a.is_scalar(), b.is_scalar());
    let mut builder = PrimitiveArray::<R>::builder(rows).with_data_type(result.clone());
    for i in 0..rows {
        if nulls.as_ref().is_some_and(|n| n.is_null(i)) {
            builder.append_null();
            continue;
        }
        let (x, y) = (
            x.value(if sa { 0 } else { i }),
            y.value(if sb { 0 } else { i }),
        );
        builder.append_option(f(x, y).map_err(FunctionError::runtime)?);
    }
    Ok(Column::Array(Arc::new(builder.finish())))
}

/// Compares each pair of values.
pub(crate) fn compare<A: ArrowPrimitiveType>(
    a: &Column,
    b: &Column,
    rows: usize,
    f: impl Fn(A::Native, A::Native) -> bool,
) -> Column {
    if a.is_null_scalar() || b.is_null_scalar() {
        return Column::null(&ArrowType::Boolean);
    }
    let (x, y) = (
        a.array().as_primitive::<A>().values(),
        b.array().as_primitive::<A>().values(),
    );
    let bits = match (a.is_scalar(), b.is_scalar()) {
        (false, true) => {
            let y = y[0];
            BooleanBuffer::collect_bool(rows, |i| f(x[i], y))
        }
        (true, false) => {
            let x = x[0];
            BooleanBuffer::collect_bool(rows, |i| f(x, y[i]))
        }
        (true, true) => BooleanBuffer::collect_bool(rows, |_| f(x[0], y[0])),
        (false, false) => BooleanBuffer::collect_bool(rows, |i| f(x[i], y[i])),
    };
    Column::Array(Arc::new(BooleanArray::new(bits, valid_rows(&[a, b]))))
}

/// Applies a total function to each value.
pub(crate) fn unary<A: ArrowPrimitiveType, R: ArrowPrimitiveType>(
    a: &Column,
    result: &ArrowType,
    f: impl Fn(A::Native) -> R::Native,
) -> Column {
    let array: PrimitiveArray<R> = a.array().as_primitive::<A>().unary(f);
    Column::Array(Arc::new(array.with_data_type(result.clone())))
}

/// Returns which rows have no NULL in any of the array columns; scalars are not looked at.
pub(crate) fn valid_rows(columns: &[&Column]) -> Option<NullBuffer> {
    columns
        .iter()
        .filter(|c| !c.is_scalar())
        .fold(None, |nulls, column| {
            NullBuffer::union(nulls.as_ref(), column.array().logical_nulls().as_ref())
        })
}

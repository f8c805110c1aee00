//! Casts to text.

use std::fmt::Write as _;

use aquifer_types::{DataType, Decimal, LogicalType, format_double, format_float, temporal};
use arrow_array::Array;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;

use super::{CastFn, length};
use crate::context::EvalContext;
use crate::kernel::rows::{
    Bool, Date, F32, F64, I8, I16, I32, I64, Millis, Months, Read, Stamp, Time, Unscaled,
};

/// Writes the text of a row that is not NULL.
type TextWriter<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

pub(super) fn compile(from: &DataType, to: &LogicalType) -> CastFn {
    let fitting = length::fitting(to);
    let from = from.clone();
    Box::new(move |array, context| {
        let write = writer(array.as_ref(), &from, context.eval);
        let mut builder = StringBuilder::with_capacity(array.len(), array.len() * 8);
        let mut text = String::new();
        let nulls = array.logical_nulls();
        for row in 0..array.len() {
            if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                builder.append_null();
                continue;
            }
            text.clear();
            write(row, &mut text);
            if let Some((length, pad)) = fitting {
                length::fit_text(&mut text, length, pad);
            }
            builder.append_value(&text);
        }
        Ok(std::sync::Arc::new(builder.finish()))
    })
}

/// Returns the writer of a column's texts.
pub(crate) fn writer<'a>(
    array: &'a dyn Array,
    data_type: &DataType,
    context: &EvalContext,
) -> TextWriter<'a> {
    use LogicalType as T;
    macro_rules! display {
        ($read:ty) => {{
            let view = <$read>::view(array);
            Box::new(move |row, out| {
                let _ = write!(out, "{}", <$read>::get(&view, row));
            })
        }};
    }
    macro_rules! text {
        ($read:ty, |$value:ident| $text:expr) => {{
            let view = <$read>::view(array);
            Box::new(move |row, out| {
                let $value = <$read>::get(&view, row);
                out.push_str(&$text);
            })
        }};
    }
    match &data_type.logical {
        T::Char(_) | T::VarChar(_) => {
            let view = array.as_string::<i32>();
            Box::new(move |row, out| out.push_str(view.value(row)))
        }
        T::Boolean => text!(Bool, |v| if v { "TRUE" } else { "FALSE" }),
        T::Binary(_) | T::VarBinary(_) => {
            let view = array.as_binary::<i32>();
            Box::new(move |row, out| out.push_str(&String::from_utf8_lossy(view.value(row))))
        }
        T::Decimal { scale, .. } => {
            let scale = *scale;
            let view = Unscaled::view(array);
            Box::new(move |row, out| {
                let _ = write!(out, "{}", Decimal::new(Unscaled::get(&view, row), scale));
            })
        }
        T::TinyInt => display!(I8),
        T::SmallInt => display!(I16),
        T::Int => display!(I32),
        T::BigInt => display!(I64),
        T::Float => text!(F32, |v| format_float(v)),
        T::Double => text!(F64, |v| format_double(v)),
        T::Date => text!(Date, |v| temporal::format_date(v)),
        T::Time(p) => {
            let p = *p;
            text!(Time, |v| temporal::format_time(v, p))
        }
        T::Timestamp(p) => {
            let p = *p;
            text!(Stamp, |v| temporal::format_timestamp(v, p))
        }
        T::TimestampLtz(p) => {
            let (p, zone) = (*p, context.time_zone);
            text!(Stamp, |v| temporal::format_timestamp(zone.to_local(v), p))
        }
        T::IntervalYearMonth => text!(Months, |v| temporal::format_interval_year_month(v)),
        T::IntervalDayTime => text!(Millis, |v| temporal::format_interval_day_time(v)),
        T::Array(element) => {
            let list = array.as_list::<i32>();
            let elements = nullable(list.values().as_ref(), element, context);
            Box::new(move |row, out| {
                let offsets = list.value_offsets();
                sequence(
                    out,
                    ('[', ']'),
                    offsets[row] as usize..offsets[row + 1] as usize,
                    |i, out| {
                        elements(i, out);
                    },
                );
            })
        }
        T::Map(key, value) => map(array, key, value, context),
        T::Multiset(element) => map(array, element, &DataType::new(T::Int), context),
        T::Row(fields) => {
            let columns = array.as_struct().columns();
            let fields: Vec<TextWriter<'a>> = columns
                .iter()
                .zip(fields)
                .map(|(column, field)| nullable(column.as_ref(), &field.data_type, context))
                .collect();
            Box::new(move |row, out| {
                sequence(out, ('(', ')'), 0..fields.len(), |i, out| {
                    fields[i](row, out);
                });
            })
        }
        T::Null => Box::new(|_, out| out.push_str("NULL")),
    }
}

/// As [`writer`], with NULL written as `NULL`.
fn nullable<'a>(
    array: &'a dyn Array,
    data_type: &DataType,
    context: &EvalContext,
) -> TextWriter<'a> {
    let write = writer(array, data_type, context);
    Box::new(move |row, out| {
        if array.is_null(row) {
            out.push_str("NULL");
        } else {
            write(row, out);
        }
    })
}

fn map<'a>(
    array: &'a dyn Array,
    key: &DataType,
    value: &DataType,
    context: &EvalContext,
) -> TextWriter<'a> {
    let map = array.as_map();
    let keys = nullable(map.keys().as_ref(), key, context);
    let values = nullable(map.values().as_ref(), value, context);
    Box::new(move |row, out| {
        let offsets = map.value_offsets();
        sequence(
            out,
            ('{', '}'),
            offsets[row] as usize..offsets[row + 1] as usize,
            |i, out| {
                keys(i, out);
                out.push('=');
                values(i, out);
            },
        );
    })
}

fn sequence(
    out: &mut String,
    (open, close): (char, char),
    range: std::ops::Range<usize>,
    mut write: impl FnMut(usize, &mut String),
) {
    out.push(open);
    for (n, i) in range.enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        write(i, out);
    }
    out.push(close);
}

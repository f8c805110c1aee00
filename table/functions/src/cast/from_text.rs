//! Casts from text: blanks around the value are ignored.

use std::sync::Arc;

use aquifer_types::{DataType, Decimal, LogicalType, Timestamp, temporal};
use arrow_array::builder::ArrayBuilder as _;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, PrimitiveArray};

use super::{CastContext, CastFn, length, push};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{DateOut, TimeOut, Write};

/// Reads each text; `None` from the reader is an error, or NULL with `TRY_CAST`.
fn each<R: Write>(
    array: &ArrayRef,
    to: &DataType,
    context: &CastContext<'_>,
    read: impl Fn(&str) -> Option<R>,
) -> Result<ArrayRef> {
    let texts = array.as_string::<i32>();
    let mut builder = R::builder(to, texts.len());
    for text in texts {
        match text.map(|text| (text, read(text))) {
            None => R::push_null(&mut builder),
            Some((_, Some(value))) => push(value, &mut builder, context)?,
            Some(_) if context.try_ => R::push_null(&mut builder),
            Some((text, None)) => return Err(bad(text, to)),
        }
    }
    Ok(builder.finish())
}

fn bad(text: &str, to: &DataType) -> FunctionError {
    FunctionError::runtime(format!(
        "text '{}' is not a value of type {}",
        shorten(text),
        to.logical
    ))
}

/// Long texts are cut in messages.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

pub(super) fn compile(to: &DataType) -> Option<CastFn> {
    use LogicalType as T;
    let target = to.clone();
    macro_rules! run {
        ($write:ty, $read:expr) => {
            Some(Box::new(move |array, context| {
                each::<$write>(array, &target, context, $read)
            }))
        };
    }
    match &to.logical {
        T::Boolean => run!(bool, boolean),
        T::TinyInt => run!(i8, |t| integer(t).and_then(|v| v.try_into().ok())),
        T::SmallInt => run!(i16, |t| integer(t).and_then(|v| v.try_into().ok())),
        T::Int => run!(i32, |t| integer(t).and_then(|v| v.try_into().ok())),
        T::BigInt => run!(i64, integer),
        T::Float => run!(f32, |t| float(t).and_then(|t| t.parse().ok())),
        T::Double => run!(f64, |t| float(t).and_then(|t| t.parse().ok())),
        T::Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            Some(Box::new(move |array, context| {
                let mut numbers = PrimitiveArray::<Decimal128Type>::builder(array.len())
                    .with_data_type(target.to_arrow());
                for text in array.as_string::<i32>() {
                    let number = text.map(|text| {
                        let number: Option<Decimal> = text.trim().parse().ok();
                        (text, number.and_then(|n| n.fit(precision, scale)))
                    });
                    match number {
                        None => numbers.append_null(),
                        Some((_, Some(number))) => numbers.append_value(number.unscaled()),
                        Some(_) if context.try_ => numbers.append_null(),
                        Some((text, None)) => return Err(bad(text, &target)),
                    }
                }
                Ok(Arc::new(numbers.finish()) as ArrayRef)
            }))
        }
        T::Binary(_) | T::VarBinary(_) => Some(length::text_to_binary(&to.logical)),
        T::Date => run!(DateOut, |t| temporal::parse_date(t).map(DateOut)),
        T::Time(_) => run!(TimeOut, |t| temporal::parse_time(t).map(TimeOut)),
        T::Timestamp(_) => run!(Timestamp, temporal::parse_timestamp),
        T::TimestampLtz(_) => Some(Box::new(move |array, context| {
            let zone = context.eval.time_zone;
            each::<Timestamp>(array, &target, context, |t| {
                // A `Z` at the end says that the text is UTC already.
                let instant = temporal::parse_timestamp(t)?;
                Some(if t.trim_end().ends_with('Z') {
                    instant
                } else {
                    zone.to_instant(instant)
                })
            })
        })),
        _ => None,
    }
}

fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    let is = |words: &[&str]| words.iter().any(|w| text.eq_ignore_ascii_case(w));
    if is(&["t", "true", "y", "yes", "1"]) {
        Some(true)
    } else if is(&["f", "false", "n", "no", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// Reads a whole number; a fraction of digits is cut off.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // `.5` is zero.
    if matches!(whole, "" | "+" | "-") {
        return (!fraction.is_empty()).then_some(0);
    }
    whole.parse().ok()
}

/// Returns the text of a floating point number as Rust's parser takes it.
fn float(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = match text.as_bytes() {
        // Java's type suffixes.
        [.., digit, b'd' | b'D' | b'f' | b'F'] if digit.is_ascii_digit() || *digit == b'.' => {
            &text[..text.len() - 1]
        }
        _ => text,
    };
    // Rust takes more words than Java does.
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let word = unsigned.starts_with(|c: char| c.is_ascii_alphabetic());
    (!word || matches!(unsigned, "NaN" | "Infinity")).then_some(text)
}

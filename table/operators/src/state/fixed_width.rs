//! Fixed-width Arrow columns as 64-bit words and back.
//!
//! Keys of at most 64 bits per column are compared and hashed as words, whatever their type. Signed integers, dates,
//! times and timestamps are sign-extended, floats are their bits (so `0.0` and `-0.0` are two keys, as for Flink's
//! binary rows), booleans are 0 and 1.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, IntervalUnit};

/// The bytes a value takes, for the types that fit a word; `None` for others. Booleans count as one byte.
pub(crate) fn word_bytes(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Boolean | DataType::Int8 | DataType::UInt8 => Some(1),
        DataType::Int16 | DataType::UInt16 => Some(2),
        DataType::Int32
        | DataType::UInt32
        | DataType::Float32
        | DataType::Date32
        | DataType::Time32(_)
        | DataType::Interval(IntervalUnit::YearMonth) => Some(4),
        DataType::Int64
        | DataType::UInt64
        | DataType::Float64
        | DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => Some(8),
        _ => None,
    }
}

/// Calls `each` with the row number and the word of every row, NULL rows included (their word is arbitrary).
///
/// `array` must be of a type with [`word_bytes`].
#[inline]
pub(crate) fn for_each_word(array: &dyn Array, mut each: impl FnMut(usize, u64)) {
    if let Some(bools) = array.as_boolean_opt() {
        bools
            .values()
            .iter()
            .enumerate()
            .for_each(|(row, value)| each(row, u64::from(value)));
        return;
    }
    let data = array.to_data();
    let rows = array.len();
    match word_bytes(array.data_type()).expect("the caller checked the type") {
        1 => data.buffer::<i8>(0)[..rows]
            .iter()
            .enumerate()
            .for_each(|(row, v)| each(row, i64::from(*v) as u64)),
        2 => data.buffer::<i16>(0)[..rows]
            .iter()
            .enumerate()
            .for_each(|(row, v)| each(row, i64::from(*v) as u64)),
        4 => data.buffer::<i32>(0)[..rows]
            .iter()
            .enumerate()
            .for_each(|(row, v)| each(row, i64::from(*v) as u64)),
        _ => data.buffer::<u64>(0)[..rows]
            .iter()
            .enumerate()
            .for_each(|(row, v)| each(row, *v)),
    }
}

/// Builds a column of `data_type` from words.
pub(crate) fn array_from_words(
    data_type: &DataType,
    words: impl ExactSizeIterator<Item = u64>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let rows = words.len();
    if *data_type == DataType::Boolean {
        let values: BooleanBuffer = words.map(|word| word != 0).collect();
        return std::sync::Arc::new(BooleanArray::new(values, nulls));
    }
    let buffer = match word_bytes(data_type).expect("the caller checked the type") {
        1 => Buffer::from_vec(words.map(|word| word as i8).collect::<Vec<_>>()),
        2 => Buffer::from_vec(words.map(|word| word as i16).collect::<Vec<_>>()),
        4 => Buffer::from_vec(words.map(|word| word as i32).collect::<Vec<_>>()),
        _ => Buffer::from_vec(words.collect::<Vec<_>>()),
    };
    array_from_buffers(data_type, rows, vec![buffer], nulls)
}

/// Builds a column from the buffers of its type's layout.
pub(crate) fn array_from_buffers(
    data_type: &DataType,
    rows: usize,
    buffers: Vec<Buffer>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let data = ArrayData::builder(data_type.clone())
        .len(rows)
        .buffers(buffers)
        .nulls(nulls)
        .build();
    make_array(data.expect("the buffers were made for this type and this number of rows"))
}

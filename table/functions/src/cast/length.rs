//! Text and bytes brought to the length of their type.

use std::sync::Arc;

use aquifer_types::LogicalType;
use aquifer_types::data_type::MAX_LENGTH;
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use super::CastFn;

/// Cuts text to a number of characters, or pads it with blanks to it.
pub(super) fn fit_text(text: &mut String, length: usize, pad: bool) {
    // Bytes are at least as many as characters.
    if text.len() >= length
        && let Some((at, _)) = text.char_indices().nth(length)
    {
        text.truncate(at);
    } else if pad {
        let missing = length.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n(' ', missing));
    }
}

fn parameters(logical: &LogicalType) -> (u32, bool) {
    match logical {
        LogicalType::Char(n) | LogicalType::Binary(n) => (*n, true),
        LogicalType::VarChar(n) | LogicalType::VarBinary(n) => (*n, false),
        _ => (MAX_LENGTH, false),
    }
}

/// Returns how to bring text just made to a type; nothing if any text fits.
pub(super) fn fitting(to: &LogicalType) -> Option<(usize, bool)> {
    let (length, pad) = parameters(to);
    (length != MAX_LENGTH || pad).then_some((length as usize, pad))
}

pub(super) fn text(from: &LogicalType, to: &LogicalType) -> Option<CastFn> {
    let (length, pad) = parameters(to);
    let (old, _) = parameters(from);
    if !pad && old <= length {
        return Some(Box::new(|array, _| Ok(array.clone())));
    }
    let length = length as usize;
    Some(Box::new(move |array, _| {
        let texts = array.as_string::<i32>();
        let mut builder = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
        let mut buffer = String::new();
        for text in texts {
            match text {
                None => builder.append_null(),
                Some(text) => {
                    buffer.clear();
                    buffer.push_str(text);
                    fit_text(&mut buffer, length, pad);
                    builder.append_value(&buffer);
                }
            }
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    }))
}

/// Appends bytes cut to a length, or padded with zeros to it.
pub(super) fn push_bytes(builder: &mut BinaryBuilder, bytes: &[u8], length: usize, pad: bool) {
    if bytes.len() >= length {
        builder.append_value(&bytes[..length]);
    } else if pad {
        let mut padded = bytes.to_vec();
        padded.resize(length, 0);
        builder.append_value(padded);
    } else {
        builder.append_value(bytes);
    }
}

pub(super) fn binary(from: &LogicalType, to: &LogicalType) -> Option<CastFn> {
    let (length, pad) = parameters(to);
    let (old, _) = parameters(from);
    if !pad && old <= length {
        return Some(Box::new(|array, _| Ok(array.clone())));
    }
    let length = length as usize;
    Some(Box::new(move |array, _| {
        let values = array.as_binary::<i32>();
        let mut builder = BinaryBuilder::with_capacity(values.len(), values.value_data().len());
        for bytes in values {
            match bytes {
                None => builder.append_null(),
                Some(bytes) => push_bytes(&mut builder, bytes, length, pad),
            }
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    }))
}

/// Text as its UTF-8 bytes.
pub(super) fn text_to_binary(to: &LogicalType) -> CastFn {
    let (length, pad) = parameters(to);
    let length = length as usize;
    Box::new(move |array, _| {
        let texts = array.as_string::<i32>();
        let mut builder = BinaryBuilder::with_capacity(texts.len(), texts.value_data().len());
        for text in texts {
            match text {
                None => builder.append_null(),
                Some(text) => push_bytes(&mut builder, text.as_bytes(), length, pad),
            }
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    })
}

//! `BIN`, `HEX` and `UNHEX`.

use std::fmt::Write as _;

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Bytes, I64, Text, map1, text1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const BIN: BuiltIn = BuiltIn::new(
    "BIN",
    "The binary digits of an integer, in two's complement of 64 bits.",
    &[Signature::new(&[Kind::BigInt], Returns::String)],
    |_| {
        Ok(text1::<I64>(|number, out| {
            let _ = write!(out, "{number:b}");
            Ok(true)
        }))
    },
)
.infallible();

fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
}

pub(super) const HEX: BuiltIn = BuiltIn::new(
    "HEX",
    "The hexadecimal digits of an integer, or of the bytes of a text.",
    &[
        Signature::new(&[Kind::BigInt], Returns::String),
        Signature::new(&[Kind::Text], Returns::String),
        Signature::new(&[Kind::Binary], Returns::String),
    ],
    |args| {
        Ok(if args.types[0].is_string() {
            text1::<Text>(|text, out| {
                push_hex(text.as_bytes(), out);
                Ok(true)
            })
        } else if args.types[0].logical.is_binary() {
            text1::<Bytes>(|bytes, out| {
                push_hex(bytes, out);
                Ok(true)
            })
        } else {
            text1::<I64>(|number, out| {
                let _ = write!(out, "{number:X}");
                Ok(true)
            })
        })
    },
)
.infallible();

pub(super) const UNHEX: BuiltIn = BuiltIn::new(
    "UNHEX",
    "The bytes of hexadecimal digits; NULL if the text has other characters.",
    &[Signature::new(&[Kind::Text], Returns::Bytes)],
    |args| Ok(map1::<Text, Vec<u8>>(args.result, |text| Ok(unhex(text)))),
)
.nulls(Nulls::Always)
.infallible();

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    // The digit of an incomplete first byte is lost, as in Flink: `146` is 00 46.
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    let rest = if digits.len() % 2 == 1 {
        bytes.push(0);
        &digits[1..]
    } else {
        &digits[..]
    };
    bytes.extend(rest.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Some(bytes)
}

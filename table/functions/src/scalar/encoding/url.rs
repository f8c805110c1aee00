//! `URL_ENCODE` and `URL_DECODE`: the form encoding of Java's `URLEncoder`.

use std::fmt::Write as _;

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Text, text1};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text], Returns::String)];

pub(super) const URL_ENCODE: BuiltIn = BuiltIn::new(
    "URL_ENCODE",
    "The text as it stands in a URL.",
    SIGNATURES,
    |_| {
        Ok(text1::<Text>(|text, out| {
            for byte in text.bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                        out.push(char::from(byte));
                    }
                    b' ' => out.push('+'),
                    _ => {
                        let _ = write!(out, "%{byte:02X}");
                    }
                }
            }
            Ok(true)
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

pub(super) const URL_DECODE: BuiltIn = BuiltIn::new(
    "URL_DECODE",
    "The text of one that stands in a URL; NULL if it is malformed.",
    SIGNATURES,
    |_| {
        Ok(text1::<Text>(|text, out| {
            let Some(bytes) = decode(text) else {
                return Ok(false);
            };
            out.push_str(&String::from_utf8_lossy(&bytes));
            Ok(true)
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = after
                    .get(..2)
                    .filter(|d| d.iter().all(u8::is_ascii_hexdigit))?;
                let digits = std::str::from_utf8(digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &after[2..];
            }
            other => bytes.push(*other),
        }
    }
    Some(bytes)
}

//! `TO_BASE64` and `FROM_BASE64` (RFC 4648, with padding).

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{Bytes, Text, text1};
use crate::signature::{Kind, Returns, Signature};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const SIGNATURES: &[Signature] = &[
    Signature::new(&[Kind::Text], Returns::String),
    Signature::new(&[Kind::Binary], Returns::String),
];

pub(super) const TO_BASE64: BuiltIn = BuiltIn::new(
    "TO_BASE64",
    "A text or bytes in base 64.",
    SIGNATURES,
    |args| {
        Ok(if args.types[0].is_string() {
            text1::<Text>(|text, out| {
                encode(text.as_bytes(), out);
                Ok(true)
            })
        } else {
            text1::<Bytes>(|bytes, out| {
                encode(bytes, out);
                Ok(true)
            })
        })
    },
)
.infallible();

pub(super) const FROM_BASE64: BuiltIn = BuiltIn::new(
    "FROM_BASE64",
    "The text of base 64 digits; NULL if they are none.",
    SIGNATURES,
    |args| {
        let read = |bytes: &[u8], out: &mut String| match decode(bytes) {
            Some(bytes) => {
                out.push_str(&String::from_utf8_lossy(&bytes));
                true
            }
            None => false,
        };
        Ok(if args.types[0].is_string() {
            text1::<Text>(move |text, out| Ok(read(text.as_bytes(), out)))
        } else {
            text1::<Bytes>(move |bytes, out| Ok(read(bytes, out)))
        })
    },
)
.nulls(Nulls::Always)
.infallible();

pub(in crate::scalar) fn encode(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, b| bits << 8 | u32::from(*b));
        let bits = bits << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text
        .strip_suffix(b"==")
        .or_else(|| text.strip_suffix(b"="))
        .unwrap_or(text);
    if digits.len() % 4 == 1 || (digits.len() != text.len() && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().try_fold(0_u32, |bits, digit| {
            let value = DIGITS.iter().position(|d| d == digit)?;
            Some(bits << 6 | value as u32)
        })?;
        let bits = bits << (6 * (4 - chunk.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (text, digits) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!(out, digits);
            assert_eq!(decode(digits.as_bytes()).unwrap(), text.as_bytes());
        }
        for bad in ["Z", "Zg=", "Z===", "Zg*="] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}

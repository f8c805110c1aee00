//! `INET_ATON` and `INET_NTOA`.

use std::fmt::Write as _;

use crate::definition::{BuiltIn, Nulls};
use crate::kernel::rows::{I64, Text, map1, text1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const INET_ATON: BuiltIn = BuiltIn::new(
    "INET_ATON",
    "The number of an IPv4 address, in which middle parts may be left out; NULL if it is none.",
    &[Signature::new(&[Kind::Text], Returns::BigInt)],
    |args| Ok(map1::<Text, i64>(args.result, |text| Ok(to_number(text)))),
)
.nulls(Nulls::Always)
.infallible();

/// `a.b` is `a.0.0.b`, as MySQL has it.
fn to_number(text: &str) -> Option<i64> {
    let parts = text
        .split('.')
        .map(|part| {
            let digits =
                !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse::<u8>().ok()).flatten()
        })
        .collect::<Option<Vec<u8>>>()?;
    let (last, front) = parts.split_last()?;
    if front.len() > 3 {
        return None;
    }
    let mut bytes = [0; 4];
    bytes[..front.len()].copy_from_slice(front);
    bytes[3] = *last;
    Some(u32::from_be_bytes(bytes).into())
}

pub(super) const INET_NTOA: BuiltIn = BuiltIn::new(
    "INET_NTOA",
    "The IPv4 address of a number; NULL if it is out of range.",
    &[Signature::new(&[Kind::BigInt], Returns::String)],
    |_| {
        Ok(text1::<I64>(|number, out| {
            let Ok(number) = u32::try_from(number) else {
                return Ok(false);
            };
            let [a, b, c, d] = number.to_be_bytes();
            let _ = write!(out, "{a}.{b}.{c}.{d}");
            Ok(true)
        }))
    },
)
.nulls(Nulls::Always)
.infallible();

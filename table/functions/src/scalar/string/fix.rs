//! `STARTSWITH` and `ENDSWITH`, of text or bytes.

use crate::definition::{BuiltIn, Kernel, KernelArgs};
use crate::kernel::rows::{Bytes, Text, map2};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[
    Signature::new(&[Kind::Text, Kind::Text], Returns::Boolean),
    Signature::new(&[Kind::Binary, Kind::Binary], Returns::Boolean),
];

fn kernel(args: &KernelArgs<'_>, of_bytes: fn(&[u8], &[u8]) -> bool) -> Kernel {
    // UTF-8 parts are found by their bytes.
    if args.types[0].is_string() {
        return map2::<Text, Text, bool>(args.result, move |text, part| {
            Ok(Some(of_bytes(text.as_bytes(), part.as_bytes())))
        });
    }
    map2::<Bytes, Bytes, bool>(args.result, move |bytes, part| {
        Ok(Some(of_bytes(bytes, part)))
    })
}

pub(super) const STARTSWITH: BuiltIn = BuiltIn::new(
    "STARTSWITH",
    "Whether the first text begins with the second.",
    SIGNATURES,
    |args| Ok(kernel(args, <[u8]>::starts_with)),
)
.infallible();

pub(super) const ENDSWITH: BuiltIn = BuiltIn::new(
    "ENDSWITH",
    "Whether the first text ends with the second.",
    SIGNATURES,
    |args| Ok(kernel(args, <[u8]>::ends_with)),
)
.infallible();

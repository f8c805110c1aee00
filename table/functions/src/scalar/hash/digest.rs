//! `MD5`, `SHA1`, `SHA224`, `SHA256`, `SHA384` and `SHA512`.

use std::fmt::Write as _;

use sha2::Digest;

use crate::definition::{BuiltIn, Kernel, KernelArgs};
use crate::error::Result;
use crate::kernel::rows::{Bytes, Text, text1};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[
    Signature::new(&[Kind::Text], Returns::String),
    Signature::new(&[Kind::Binary], Returns::String),
];

/// Appends the digest of bytes.
pub(super) fn push<D: Digest>(bytes: &[u8], out: &mut String) {
    for byte in D::digest(bytes).as_slice() {
        let _ = write!(out, "{byte:02x}");
    }
}

fn kernel<D: Digest + 'static>(args: &KernelArgs<'_>) -> Result<Kernel> {
    if args.types[0].is_string() {
        return Ok(text1::<Text>(|text, out| {
            push::<D>(text.as_bytes(), out);
            Ok(true)
        }));
    }
    Ok(text1::<Bytes>(|bytes, out| {
        push::<D>(bytes, out);
        Ok(true)
    }))
}

macro_rules! functions {
    ($($constant:ident = $digest:ty;)+) => {$(
        pub(super) const $constant: BuiltIn = BuiltIn::new(
            stringify!($constant),
            concat!("The ", stringify!($constant), " hash of a text or bytes."),
            SIGNATURES,
            kernel::<$digest>,
        )
        .infallible();
    )+};
}

functions! {
    MD5 = md5::Md5;
    SHA1 = sha1::Sha1;
    SHA224 = sha2::Sha224;
    SHA256 = sha2::Sha256;
    SHA384 = sha2::Sha384;
    SHA512 = sha2::Sha512;
}

//! `SHA2`: the hash of the SHA-2 family with a number of bits.

use super::digest::push;
use crate::definition::{BuiltIn, Nulls};
use crate::error::Result;
use crate::kernel::rows::{Bytes, I32, Text, fail, text2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const SHA2: BuiltIn = BuiltIn::new(
    "SHA2",
    "The SHA-2 hash of a text or bytes, of 224, 256, 384 or 512 bits.",
    &[
        Signature::new(&[Kind::Text, Kind::Int], Returns::String),
        Signature::new(&[Kind::Binary, Kind::Int], Returns::String),
    ],
    |args| {
        if args.types[0].is_string() {
            return Ok(text2::<Text, I32>(|text, bits, out| {
                hash(text.as_bytes(), bits, out)
            }));
        }
        Ok(text2::<Bytes, I32>(hash))
    },
)
.nulls(Nulls::Propagate);

fn hash(bytes: &[u8], bits: i32, out: &mut String) -> Result<bool> {
    match bits {
        224 => push::<sha2::Sha224>(bytes, out),
        256 => push::<sha2::Sha256>(bytes, out),
        384 => push::<sha2::Sha384>(bytes, out),
        512 => push::<sha2::Sha512>(bytes, out),
        _ => {
            return fail(format!(
                "the length must be 224, 256, 384 or 512, but is {bits}"
            ));
        }
    }
    Ok(true)
}

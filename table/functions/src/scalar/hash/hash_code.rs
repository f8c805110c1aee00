//! `HASH_CODE`: Java's hash of a text.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, map1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const HASH_CODE: BuiltIn = BuiltIn::new(
    "HASH_CODE",
    "Java's hash code of a text.",
    &[Signature::new(&[Kind::Text], Returns::Int)],
    |args| {
        Ok(map1::<Text, i32>(args.result, |text| {
            let hash = text.encode_utf16().fold(0_i32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(unit.into())
            });
            Ok(Some(hash))
        }))
    },
)
.infallible();

//! `ASCII`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, map1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const ASCII: BuiltIn = BuiltIn::new(
    "ASCII",
    "The code of the first byte of the text; 0 if it is empty.",
    &[Signature::new(&[Kind::Text], Returns::Int)],
    |args| {
        Ok(map1::<Text, i32>(args.result, |text| {
            // Java's bytes are signed.
            Ok(Some(
                text.bytes().next().map_or(0, |b| b.cast_signed().into()),
            ))
        }))
    },
)
.infallible();

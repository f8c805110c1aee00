//! `CHR`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{I64, text1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const CHR: BuiltIn = BuiltIn::new(
    "CHR",
    "The character of the code modulo 256; empty for a negative code.",
    &[Signature::new(&[Kind::BigInt], Returns::String)],
    |_| {
        Ok(text1::<I64>(|code, out| {
            if code >= 0 {
                out.push(char::from((code & 255) as u8));
            }
            Ok(true)
        }))
    },
)
.infallible();

//! `REVERSE`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const REVERSE: BuiltIn = BuiltIn::new(
    "REVERSE",
    "The characters of the text from the last to the first.",
    &[Signature::new(&[Kind::Text], Returns::String)],
    |_| {
        Ok(text1::<Text>(|text, out| {
            out.extend(text.chars().rev());
            Ok(true)
        }))
    },
)
.infallible();

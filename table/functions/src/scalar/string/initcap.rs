//! `INITCAP`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const INITCAP: BuiltIn = BuiltIn::new(
    "INITCAP",
    "The text with the first letter of each word in upper case and the others in lower case.",
    &[Signature::new(&[Kind::Text], Returns::String)],
    |_| {
        Ok(text1::<Text>(|text, out| {
            let mut inside = false;
            for c in text.chars() {
                if inside {
                    out.extend(c.to_lowercase());
                } else {
                    out.extend(c.to_uppercase());
                }
                inside = c.is_alphanumeric();
            }
            Ok(true)
        }))
    },
)
.infallible();

//! `UPPER` and `LOWER`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, text1};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[Signature::new(&[Kind::Text], Returns::String)];

pub(super) const UPPER: BuiltIn =
    BuiltIn::new("UPPER", "The text in upper case.", SIGNATURES, |_| {
        Ok(text1::<Text>(|text, out| {
            if text.is_ascii() {
                out.push_str(text);
                out.make_ascii_uppercase();
            } else {
                text.chars().for_each(|c| out.extend(c.to_uppercase()));
            }
            Ok(true)
        }))
    })
    .aliases(&["UPPERCASE"])
    .infallible();

pub(super) const LOWER: BuiltIn =
    BuiltIn::new("LOWER", "The text in lower case.", SIGNATURES, |_| {
        Ok(text1::<Text>(|text, out| {
            if text.is_ascii() {
                out.push_str(text);
                out.make_ascii_lowercase();
            } else {
                out.push_str(&text.to_lowercase());
            }
            Ok(true)
        }))
    })
    .aliases(&["LOWERCASE"])
    .infallible();

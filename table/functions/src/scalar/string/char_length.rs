//! `CHAR_LENGTH`.

use super::characters;
use crate::definition::BuiltIn;
use crate::kernel::rows::{Text, map1};
use crate::signature::{Kind, Returns, Signature};

pub(super) const CHAR_LENGTH: BuiltIn = BuiltIn::new(
    "CHAR_LENGTH",
    "The number of characters of the text.",
    &[Signature::new(&[Kind::Text], Returns::Int)],
    |args| {
        Ok(map1::<Text, i32>(args.result, |text| {
            Ok(Some(characters::count(text) as i32))
        }))
    },
)
.aliases(&["CHARACTER_LENGTH"])
.infallible();

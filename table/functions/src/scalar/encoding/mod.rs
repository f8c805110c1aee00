//! Texts and bytes in other encodings.

use crate::definition::BuiltIn;

mod base64;
mod charset;
mod url;

pub(super) use base64::encode as encode_base64;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    charset::DECODE,
    charset::ENCODE,
    base64::FROM_BASE64,
    base64::TO_BASE64,
    url::URL_DECODE,
    url::URL_ENCODE,
];

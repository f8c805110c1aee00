//! Hash functions; their results are hexadecimal digits in lower case.

use crate::definition::BuiltIn;

mod digest;
mod hash_code;
mod sha2_of_length;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    hash_code::HASH_CODE,
    digest::MD5,
    digest::SHA1,
    sha2_of_length::SHA2,
    digest::SHA224,
    digest::SHA256,
    digest::SHA384,
    digest::SHA512,
];

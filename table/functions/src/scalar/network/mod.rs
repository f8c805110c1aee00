//! IPv4 addresses.

use crate::definition::BuiltIn;

mod inet;

pub(super) const FUNCTIONS: &[BuiltIn] = &[inet::INET_ATON, inet::INET_NTOA];

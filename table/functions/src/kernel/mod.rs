//! Building blocks of kernels.
//!
//! [`primitive`] has tight loops over fixed-width columns for operators; [`rows`] lifts a Rust
//! function of one row's values to columns, with NULL in giving NULL out. Both are generic over
//! the function, so that no call is dispatched per row.

pub(crate) mod compare;
pub(crate) mod primitive;
pub(crate) mod rows;

//! Jobs on real workers.

mod basics;
mod failures;

//! Jobs on real workers.

mod basics;
mod checkpoints;
mod failures;
mod support;

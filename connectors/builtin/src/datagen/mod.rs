//! `datagen`: made-up rows.
//!
//! Each field is `random` or a `sequence`; options are Flink's, with `seed` added. A value is a
//! function of the seed, the field and the number of the row alone, so a run gives the same rows
//! whatever the number of workers, and goes on with them after a restart. Only timestamps also look
//! at the clock, as in Flink: they lie within `max-past` before now, and a random DATE or TIME is now.
//!
//! Row numbers are dealt out to a fixed number of shards, which workers share; the state is the next
//! number of each shard.

mod factory;
mod field;
mod generator;
mod random;
mod reader;
#[cfg(test)]
mod tests;

pub use factory::DatagenFactory;

//! What is known of an operation's output: which changes occur, which columns are a key, whether it
//! ends.

mod boundedness;
mod changelog;
mod upsert_key;

pub use boundedness::is_bounded;
pub use changelog::{changelog_mode, is_append_only, update_cause};
pub use upsert_key::upsert_key;

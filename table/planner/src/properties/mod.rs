//! What is known of an operation's output: which changes occur, which columns are a key, whether it
//! ends.

mod boundedness;
mod changelog;
mod time_attributes;
mod upsert_key;
mod window;

pub use boundedness::is_bounded;
pub use changelog::{changelog_mode, is_append_only, update_cause};
pub use time_attributes::time_attributes;
pub use upsert_key::upsert_key;
pub use window::{WindowColumns, WindowGrouping, window_columns, window_grouping};

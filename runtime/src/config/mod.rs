//! Configuration: ordered text values under dotted keys, read through typed options.
//!
//! The idea is Flink's: a [`Configuration`] is a map of strings, and a [`ConfigOption`] gives one key a
//! type, a default and a description. All options of the runtime stand in one sorted list,
//! [`options::OPTIONS`], which drives checking, near-name hints and the reference page. Values that come
//! from outside (files, maps, the environment) are checked when they enter.

mod configuration;
mod error;
mod load;
mod near_names;
mod option;
pub mod options;
mod reference;
mod value;

pub use configuration::Configuration;
pub use error::ConfigurationError;
pub use load::RESERVED_VARIABLES;
pub use near_names::near_names;
pub use option::{AnyConfigOption, ConfigOption, OptionList};
pub use reference::render_reference;
pub use value::{ConfigValue, MemorySize, RestartStrategyType, format_duration, parse_duration};

//! Which types can become which: common supertypes and the cast rules.
//!
//! Source: Flink's `LogicalTypeMerging` and `LogicalTypeCasts`, and for text of unequal lengths
//! the planner's rule that the common type is VARCHAR.

mod common_type;
mod rules;

pub use common_type::find_common_type;
pub use rules::{supports_explicit_cast, supports_implicit_cast};

//! Windows over event time or processing time.

mod aggregate;
mod assigner;
mod table_function;

pub use aggregate::{
    WindowAggregateOperator, WindowAggregateParameters, WindowProperty, WindowSource,
};
pub use assigner::{WindowKind, WindowTime};
pub use table_function::{WindowTableFunction, window_table_function};

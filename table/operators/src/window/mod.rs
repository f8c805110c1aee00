//! Windows over event time or processing time.

mod aggregate;
mod assigner;
mod table_function;
mod windowed;

pub use aggregate::{
    WindowAggregateOperator, WindowAggregateParameters, WindowProperty, WindowSource,
};
pub use assigner::{WindowKind, WindowTime};
pub use table_function::{WindowTableFunction, window_table_function};
pub use windowed::{WindowOperatorFactory, WindowedInput, WindowedOperator};

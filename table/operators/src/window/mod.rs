//! Windows over event time or processing time.

mod aggregate;
mod assigner;
mod hop_window;
mod property;
mod session;
mod table_function;
mod windowed;

pub use aggregate::{WindowAggregateOperator, WindowAggregateParameters, WindowSource};
pub use assigner::{WindowKind, WindowTime};
pub use property::WindowProperty;
pub use session::{SessionAggregateOperator, SessionAggregateParameters};
pub use table_function::{WindowTableFunction, window_table_function};
pub use windowed::{WindowOperatorFactory, WindowedInput, WindowedOperator};

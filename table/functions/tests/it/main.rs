//! Integration tests of the expression layer.

mod conformance;
mod reference;
mod resolve;
mod values;

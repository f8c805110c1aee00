//! Integration tests of the expression layer.

mod conformance;
mod resolve;
mod values;

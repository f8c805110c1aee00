//! What an aggregate function is.

use std::fmt;

use aquifer_types::DataType;

use super::accumulator::Accumulator;
use crate::error::Result;
use crate::signature::{Argument, Inferred};

/// What taking rows back costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retraction {
    /// Nothing: it is arithmetic.
    Arithmetic,
    /// All values of a group must be kept.
    KeepsValues,
}

/// An aggregate function.
pub trait AggregateDefinition: fmt::Debug + Send + Sync {
    /// The name, in capitals.
    fn name(&self) -> &'static str;

    /// Other names, in capitals.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The accepted signatures as text.
    fn signatures(&self) -> Vec<String>;

    /// Returns the types of arguments and result; nothing if the arguments are not taken.
    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred>;

    /// Whether the result over no rows is NULL.
    fn is_null_when_empty(&self) -> bool {
        true
    }

    /// What taking rows back costs.
    fn retraction(&self) -> Retraction {
        Retraction::Arithmetic
    }

    /// Makes an accumulator for arguments and a result of the inferred types. Without
    /// `retractable` rows are only ever added, for which a cheaper form may exist.
    ///
    /// # Errors
    /// `function.invalid_arguments` for other types.
    fn accumulator(
        &self,
        arguments: &[DataType],
        result: &DataType,
        retractable: bool,
    ) -> Result<Box<dyn Accumulator>>;

    /// One sentence on what it returns.
    fn doc(&self) -> &'static str;
}

//! `SUM` and `SUM0`.

use aquifer_types::decimal::sum_type;
use aquifer_types::{DataType, LogicalType};

use super::accumulator::Accumulator;
use super::definition::AggregateDefinition;
use super::sums::{Finish, make};
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

/// The sum has the argument's type, decimals with 38 digits.
fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [argument] = arguments else { return None };
    let taken = Kind::Numeric.accept(argument)?;
    let logical = match taken.logical {
        LogicalType::Decimal { precision, scale } => {
            let (precision, scale) = sum_type((precision, scale));
            LogicalType::Decimal { precision, scale }
        }
        ref other => other.clone(),
    };
    let result = DataType {
        logical,
        nullable: taken.nullable,
    };
    Some(Inferred {
        arguments: vec![taken],
        result,
    })
}

/// `SUM`.
#[derive(Debug)]
pub(super) struct Sum;

impl AggregateDefinition for Sum {
    fn name(&self) -> &'static str {
        "SUM"
    }

    fn signatures(&self) -> Vec<String> {
        vec!["SUM(<NUMERIC>)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        infer(arguments)
    }

    fn accumulator(
        &self,
        arguments: &[DataType],
        result: &DataType,
        _: bool,
    ) -> Result<Box<dyn Accumulator>> {
        make(self.name(), Finish::Sum, arguments, result)
    }

    fn doc(&self) -> &'static str {
        "The sum of the values that are not NULL; NULL if there are none."
    }
}

/// `SUM0`.
#[derive(Debug)]
pub(super) struct SumZero;

impl AggregateDefinition for SumZero {
    fn name(&self) -> &'static str {
        "$SUM0"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["SUM0"]
    }

    fn signatures(&self) -> Vec<String> {
        vec!["SUM0(<NUMERIC>)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let mut inferred = infer(arguments)?;
        inferred.result.nullable = false;
        Some(inferred)
    }

    fn is_null_when_empty(&self) -> bool {
        false
    }

    fn accumulator(
        &self,
        arguments: &[DataType],
        result: &DataType,
        _: bool,
    ) -> Result<Box<dyn Accumulator>> {
        make(self.name(), Finish::SumOrZero, arguments, result)
    }

    fn doc(&self) -> &'static str {
        "The sum of the values that are not NULL; zero if there are none."
    }
}

//! `AVG`.

use aquifer_types::decimal::avg_type;
use aquifer_types::{DataType, LogicalType};

use super::accumulator::Accumulator;
use super::definition::AggregateDefinition;
use super::sums::{Finish, make};
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

/// `AVG`: of integers an integer, cut towards zero; of decimals a decimal of 38 digits, at least six
/// of them after the point.
#[derive(Debug)]
pub(super) struct Average;

impl AggregateDefinition for Average {
    fn name(&self) -> &'static str {
        "AVG"
    }

    fn signatures(&self) -> Vec<String> {
        vec!["AVG(<NUMERIC>)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let [argument] = arguments else { return None };
        let taken = Kind::Numeric.accept(argument)?;
        let logical = match taken.logical {
            LogicalType::Decimal { precision, scale } => {
                let (precision, scale) = avg_type((precision, scale));
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

    fn accumulator(
        &self,
        arguments: &[DataType],
        result: &DataType,
        _: bool,
    ) -> Result<Box<dyn Accumulator>> {
        make(self.name(), Finish::Average, arguments, result)
    }

    fn doc(&self) -> &'static str {
        "The average of the values that are not NULL; NULL if there are none."
    }
}

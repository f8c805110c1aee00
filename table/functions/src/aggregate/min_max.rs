//! `MIN` and `MAX`.

use aquifer_types::{DataType, LogicalType};
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};

use super::accumulator::Accumulator;
use super::definition::{AggregateDefinition, Retraction};
use super::extremum::{ByteString, Multiset, Native};
use super::keys::{has_keys, with_primitive};
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

fn infer(arguments: &[Argument<'_>]) -> Option<Inferred> {
    let [argument] = arguments else { return None };
    let taken = match argument.data_type.logical {
        LogicalType::Null => Kind::Int.accept(argument)?,
        ref logical if logical.is_comparable() => argument.data_type.clone(),
        _ => return None,
    };
    Some(Inferred {
        arguments: vec![taken.clone()],
        result: taken,
    })
}

fn make(greatest: bool, data_type: &DataType, retractable: bool) -> Box<dyn Accumulator> {
    let logical = &data_type.logical;
    if retractable || *logical == LogicalType::Boolean {
        return if has_keys(logical) {
            Multiset::<i128>::boxed(greatest, data_type)
        } else {
            Multiset::<Box<[u8]>>::boxed(greatest, data_type)
        };
    }
    macro_rules! native {
        ($arrow:ty) => {
            Native::<$arrow>::boxed(greatest, data_type)
        };
    }
    with_primitive!(logical, native, ByteString::boxed(greatest, data_type))
}

/// `MIN`.
#[derive(Debug)]
pub(super) struct Min;

impl AggregateDefinition for Min {
    fn name(&self) -> &'static str {
        "MIN"
    }

    fn signatures(&self) -> Vec<String> {
        vec!["MIN(<COMPARABLE>)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        infer(arguments)
    }

    fn retraction(&self) -> Retraction {
        Retraction::KeepsValues
    }

    fn accumulator(
        &self,
        _: &[DataType],
        result: &DataType,
        retractable: bool,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(make(false, result, retractable))
    }

    fn doc(&self) -> &'static str {
        "The least value that is not NULL; NULL if there is none."
    }
}

/// `MAX`.
#[derive(Debug)]
pub(super) struct Max;

impl AggregateDefinition for Max {
    fn name(&self) -> &'static str {
        "MAX"
    }

    fn signatures(&self) -> Vec<String> {
        vec!["MAX(<COMPARABLE>)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        infer(arguments)
    }

    fn retraction(&self) -> Retraction {
        Retraction::KeepsValues
    }

    fn accumulator(
        &self,
        _: &[DataType],
        result: &DataType,
        retractable: bool,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(make(true, result, retractable))
    }

    fn doc(&self) -> &'static str {
        "The greatest value that is not NULL; NULL if there is none."
    }
}

//! `COUNT`: of rows, or of rows whose arguments are all not NULL.

use std::sync::Arc;

use aquifer_types::{DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_buffer::NullBuffer;

use super::accumulator::Accumulator;
use super::definition::AggregateDefinition;
use crate::error::Result;
use crate::signature::{Argument, Inferred};

/// `COUNT`.
#[derive(Debug)]
pub(super) struct Count;

impl AggregateDefinition for Count {
    fn name(&self) -> &'static str {
        "COUNT"
    }

    fn signatures(&self) -> Vec<String> {
        vec!["COUNT(*)".to_owned(), "COUNT(<ANY>...)".to_owned()]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let arguments = arguments.iter().map(|a| a.data_type.clone()).collect();
        Some(Inferred {
            arguments,
            result: DataTypes::bigint().not_null(),
        })
    }

    fn is_null_when_empty(&self) -> bool {
        false
    }

    fn accumulator(&self, _: &[DataType], _: &DataType, _: bool) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts { counts: Vec::new() }))
    }

    fn doc(&self) -> &'static str {
        "The number of rows, or of rows whose arguments are not NULL."
    }
}

struct Counts {
    counts: Vec<i64>,
}

impl Accumulator for Counts {
    fn resize(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let nulls = args
            .iter()
            .fold(None, |nulls, arg| {
                NullBuffer::union(nulls.as_ref(), arg.logical_nulls().as_ref())
            })
            .filter(|nulls| nulls.null_count() > 0);
        let counts = &mut self.counts;
        match (weights, nulls) {
            (None, None) => groups.iter().for_each(|g| counts[*g as usize] += 1),
            (None, Some(nulls)) => {
                nulls
                    .valid_indices()
                    .for_each(|i| counts[groups[i] as usize] += 1);
            }
            (Some(weights), None) => {
                for (group, weight) in groups.iter().zip(weights.values()) {
                    counts[*group as usize] += weight;
                }
            }
            (Some(weights), Some(nulls)) => {
                let weights = weights.values();
                nulls
                    .valid_indices()
                    .for_each(|i| counts[groups[i] as usize] += weights[i]);
            }
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        let values = groups.iter().map(|g| self.counts[*g as usize]);
        Ok(Arc::new(Int64Array::from_iter_values(values)))
    }

    fn clear(&mut self, groups: &[u32]) {
        groups.iter().for_each(|g| self.counts[*g as usize] = 0);
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![DataTypes::bigint().not_null()]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.value(groups)?])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let counts = state[0].as_primitive::<Int64Type>().values();
        for (group, count) in groups.iter().zip(counts) {
            self.counts[*group as usize] += count;
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}

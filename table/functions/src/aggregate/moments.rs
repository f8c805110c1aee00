//! `STDDEV_POP`, `STDDEV_SAMP`, `VAR_POP` and `VAR_SAMP`.
//!
//! Count, mean and sum of squared distances from the mean are kept (Welford's method, with Chan's
//! formula for merging), which stays exact where the sum of squares would cancel. Taking a value
//! back is the same step backwards.

use std::sync::Arc;

use aquifer_types::{DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};

use super::accumulator::Accumulator;
use super::definition::AggregateDefinition;
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

/// One of the four functions.
#[derive(Debug)]
pub(super) struct Moments {
    name: &'static str,
    aliases: &'static [&'static str],
    is_sample: bool,
    is_root: bool,
    doc: &'static str,
}

pub(super) const STDDEV_POP: Moments = Moments {
    name: "STDDEV_POP",
    aliases: &[],
    is_sample: false,
    is_root: true,
    doc: "The standard deviation of all values.",
};

pub(super) const STDDEV_SAMP: Moments = Moments {
    name: "STDDEV_SAMP",
    aliases: &["STDDEV"],
    is_sample: true,
    is_root: true,
    doc: "The standard deviation of the values as a sample; NULL of fewer than two.",
};

pub(super) const VAR_POP: Moments = Moments {
    name: "VAR_POP",
    aliases: &[],
    is_sample: false,
    is_root: false,
    doc: "The variance of all values.",
};

pub(super) const VAR_SAMP: Moments = Moments {
    name: "VAR_SAMP",
    aliases: &["VARIANCE"],
    is_sample: true,
    is_root: false,
    doc: "The variance of the values as a sample; NULL of fewer than two.",
};

impl AggregateDefinition for Moments {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn signatures(&self) -> Vec<String> {
        vec![format!("{}(<NUMERIC>)", self.name)]
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let [argument] = arguments else { return None };
        let taken = Kind::Double.accept(argument)?;
        // One value has no deviation as a sample.
        let result = DataTypes::double().with_nullable(taken.nullable || self.is_sample);
        Some(Inferred {
            arguments: vec![taken],
            result,
        })
    }

    fn accumulator(&self, _: &[DataType], _: &DataType, _: bool) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(MomentSums {
            groups: Vec::new(),
            is_sample: self.is_sample,
            is_root: self.is_root,
        }))
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    count: i64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moment {
    /// Adds values of a mean and sum of squares; a negative count takes them back.
    fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        if count == 0 {
            *self = Self::default();
            return;
        }
        let distance = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        self.squares += other.squares + distance * distance * self.count as f64 * share;
        self.mean += distance * share;
        self.count = count;
    }
}

struct MomentSums {
    groups: Vec<Moment>,
    is_sample: bool,
    is_root: bool,
}

impl Accumulator for MomentSums {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize(groups, Moment::default());
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let values = args[0].as_primitive::<Float64Type>();
        for (i, group) in groups.iter().enumerate() {
            if values.is_valid(i) {
                let count = weights.map_or(1, |w| w.value(i));
                let moment = Moment {
                    count,
                    mean: values.value(i),
                    squares: 0.0,
                };
                self.groups[*group as usize].merge(moment);
            }
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        let value = |group: &u32| {
            let moment = self.groups[*group as usize];
            let divisor = moment.count - i64::from(self.is_sample);
            if moment.count <= 0 || divisor <= 0 {
                return None;
            }
            // Values taken back may leave a rounding error below zero.
            let variance = moment.squares.max(0.0) / divisor as f64;
            Some(if self.is_root {
                variance.sqrt()
            } else {
                variance
            })
        };
        Ok(Arc::new(groups.iter().map(value).collect::<Float64Array>()))
    }

    fn clear(&mut self, groups: &[u32]) {
        groups
            .iter()
            .for_each(|g| self.groups[*g as usize] = Moment::default());
    }

    fn state_types(&self) -> Vec<DataType> {
        let double = DataTypes::double().not_null();
        vec![DataTypes::bigint().not_null(), double.clone(), double]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let of = |group: &u32| self.groups[*group as usize];
        Ok(vec![
            Arc::new(Int64Array::from_iter_values(
                groups.iter().map(|g| of(g).count),
            )),
            Arc::new(Float64Array::from_iter_values(
                groups.iter().map(|g| of(g).mean),
            )),
            Arc::new(Float64Array::from_iter_values(
                groups.iter().map(|g| of(g).squares),
            )),
        ])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let counts = state[0].as_primitive::<Int64Type>();
        let means = state[1].as_primitive::<Float64Type>();
        let squares = state[2].as_primitive::<Float64Type>();
        for (i, group) in groups.iter().enumerate() {
            self.groups[*group as usize].merge(Moment {
                count: counts.value(i),
                mean: means.value(i),
                squares: squares.value(i),
            });
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Moment>()
    }
}

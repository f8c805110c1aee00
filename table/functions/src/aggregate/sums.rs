//! Sums with the number of values in them, by group: what SUM and AVG are made of.

use std::marker::PhantomData;
use std::sync::Arc;

use aquifer_types::decimal::pow10;
use aquifer_types::{DataType, DataTypes, LogicalType};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, Int64Array, PrimitiveArray};
use arrow_buffer::ArrowNativeType;

use super::accumulator::Accumulator;
use crate::error::{FunctionError, Result};

/// What is made of sum and number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// The sum; NULL if there are no values.
    Sum,
    /// The sum; zero if there are no values.
    SumOrZero,
    /// The sum divided by the number of values; NULL if there are none.
    Average,
}

/// A type that sums are kept in.
pub(super) trait Sum: ArrowNativeType {
    type Arrow: ArrowPrimitiveType<Native = Self>;

    /// Whether sums do not depend on the order in which values are added and taken back.
    const IS_EXACT: bool;

    /// Adds a value some times; nothing if the sum becomes too large.
    fn add(self, value: Self, times: i64) -> Option<Self>;

    /// Returns the average, where the sum has `scale` digits fewer than the result.
    fn divide(self, count: i64, shift: u32) -> Option<Self>;

    /// Returns the results' column.
    fn results(values: Vec<Option<Self>>, result: &DataType) -> ArrayRef;
}

/// Builds a column of a primitive type from results, converted with `as`.
macro_rules! narrowed {
    ($values:expr, $arrow:ty, $native:ty) => {
        Arc::new(
            $values
                .into_iter()
                .map(|v| v.map(|v| v as $native))
                .collect::<PrimitiveArray<$arrow>>(),
        )
    };
}

impl Sum for i64 {
    type Arrow = Int64Type;

    const IS_EXACT: bool = true;

    #[inline]
    fn add(self, value: Self, times: i64) -> Option<Self> {
        // Sums of integers wrap, as Flink's do.
        Some(self.wrapping_add(value.wrapping_mul(times)))
    }

    fn divide(self, count: i64, _: u32) -> Option<Self> {
        Some(self.wrapping_div(count))
    }

    fn results(values: Vec<Option<Self>>, result: &DataType) -> ArrayRef {
        match result.logical {
            LogicalType::TinyInt => narrowed!(values, Int8Type, i8),
            LogicalType::SmallInt => narrowed!(values, Int16Type, i16),
            LogicalType::Int => narrowed!(values, Int32Type, i32),
            _ => Arc::new(values.into_iter().collect::<Int64Array>()),
        }
    }
}

impl Sum for f64 {
    type Arrow = Float64Type;

    const IS_EXACT: bool = false;

    #[inline]
    fn add(self, value: Self, times: i64) -> Option<Self> {
        Some(self + value * times as f64)
    }

    fn divide(self, count: i64, _: u32) -> Option<Self> {
        Some(self / count as f64)
    }

    fn results(values: Vec<Option<Self>>, result: &DataType) -> ArrayRef {
        match result.logical {
            LogicalType::Float => narrowed!(values, Float32Type, f32),
            _ => Arc::new(values.into_iter().collect::<PrimitiveArray<Float64Type>>()),
        }
    }
}

impl Sum for i128 {
    type Arrow = Decimal128Type;

    const IS_EXACT: bool = true;

    #[inline]
    fn add(self, value: Self, times: i64) -> Option<Self> {
        self.checked_add(value.checked_mul(times.into())?)
    }

    fn divide(self, count: i64, shift: u32) -> Option<Self> {
        let count = i128::from(count);
        // Whole part and rest apart, so that the shift cannot overflow before the division.
        let factor = pow10(shift)?;
        let whole = (self / count).checked_mul(factor)?;
        let rest = (self % count) * factor;
        let (quotient, left) = (rest / count, rest % count);
        let up = left.abs() * 2 >= count.abs();
        let rounded = if up {
            quotient + self.signum() * count.signum()
        } else {
            quotient
        };
        whole.checked_add(rounded)
    }

    fn results(values: Vec<Option<Self>>, result: &DataType) -> ArrayRef {
        let limit = 10_i128.pow(38);
        // More than 38 digits have no form: NULL, as in Flink.
        let fitting = values.into_iter().map(|v| v.filter(|v| v.abs() < limit));
        let array: PrimitiveArray<Decimal128Type> = fitting.collect();
        Arc::new(array.with_data_type(result.to_arrow()))
    }
}

/// The sum of a group's values and their number.
#[derive(Clone, Copy, Default)]
struct Total<S> {
    sum: S,
    count: i64,
}

/// Sums of an input type `I` kept as `S`.
pub(super) struct Sums<I, S> {
    /// Side by side, because they are always used together.
    totals: Vec<Total<S>>,
    finish: Finish,
    result: DataType,
    state: DataType,
    /// Digits that an average has more than the sum.
    shift: u32,
    input: PhantomData<fn(I)>,
}

impl<I, S: Sum> Sums<I, S>
where
    I: ArrowPrimitiveType<Native: Into<S>>,
{
    pub(super) fn boxed(
        finish: Finish,
        result: &DataType,
        state: DataType,
        shift: u32,
    ) -> Box<dyn Accumulator> {
        Box::new(Self {
            totals: Vec::new(),
            finish,
            result: result.clone(),
            state,
            shift,
            input: PhantomData,
        })
    }

    #[inline]
    fn add(&mut self, group: u32, value: S, times: i64) -> Result<()> {
        let total = &mut self.totals[group as usize];
        match total.sum.add(value, times) {
            Some(sum) => total.sum = sum,
            None => return Err(self.overflow()),
        }
        total.count += times;
        Ok(())
    }

    #[cold]
    fn overflow(&self) -> FunctionError {
        FunctionError::runtime(format!(
            "a sum of type {} has more than 38 digits",
            self.state.logical
        ))
    }
}

impl<I, S: Sum> Accumulator for Sums<I, S>
where
    I: ArrowPrimitiveType<Native: Into<S>>,
{
    fn resize(&mut self, groups: usize) {
        if groups > self.totals.len() {
            self.totals.resize(groups, Total::default());
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let array = args[0].as_primitive::<I>();
        let values = array.values();
        match (weights, array.nulls().filter(|n| n.null_count() > 0)) {
            (None, None) => {
                for (group, value) in groups.iter().zip(values) {
                    self.add(*group, (*value).into(), 1)?;
                }
            }
            (None, Some(nulls)) => {
                for i in nulls.valid_indices() {
                    self.add(groups[i], values[i].into(), 1)?;
                }
            }
            (Some(weights), None) => {
                for ((group, value), weight) in groups.iter().zip(values).zip(weights.values()) {
                    self.add(*group, (*value).into(), *weight)?;
                }
            }
            (Some(weights), Some(nulls)) => {
                let weights = weights.values();
                for i in nulls.valid_indices() {
                    self.add(groups[i], values[i].into(), weights[i])?;
                }
            }
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        let values = groups
            .iter()
            .map(|group| {
                let Total { sum, count } = self.totals[*group as usize];
                match self.finish {
                    // No values leave nothing, whatever rounding left in the sum.
                    Finish::SumOrZero if count == 0 => Some(S::default()),
                    _ if count == 0 => None,
                    Finish::Sum | Finish::SumOrZero => Some(sum),
                    Finish::Average => sum.divide(count, self.shift),
                }
            })
            .collect();
        Ok(S::results(values, &self.result))
    }

    fn clear(&mut self, groups: &[u32]) {
        for group in groups {
            self.totals[*group as usize] = Total::default();
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![self.state.clone(), DataTypes::bigint().not_null()]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let sums = groups.iter().map(|g| self.totals[*g as usize].sum);
        let sums = PrimitiveArray::<S::Arrow>::from_iter_values(sums);
        let counts =
            Int64Array::from_iter_values(groups.iter().map(|g| self.totals[*g as usize].count));
        Ok(vec![
            Arc::new(sums.with_data_type(self.state.to_arrow())),
            Arc::new(counts),
        ])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let sums = state[0].as_primitive::<S::Arrow>().values();
        let counts = state[1].as_primitive::<Int64Type>().values();
        for ((group, sum), count) in groups.iter().zip(sums).zip(counts) {
            self.add(*group, *sum, 1)?;
            self.totals[*group as usize].count += count - 1;
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        S::IS_EXACT
    }

    fn size_bytes(&self) -> usize {
        self.totals.capacity() * size_of::<Total<S>>()
    }
}

/// Makes sums over a numeric column.
pub(super) fn make(
    function: &str,
    finish: Finish,
    arguments: &[DataType],
    result: &DataType,
) -> Result<Box<dyn Accumulator>> {
    let bigint = DataTypes::bigint().not_null();
    let double = DataTypes::double().not_null();
    Ok(match arguments.first().map(|a| &a.logical) {
        Some(LogicalType::TinyInt) => Sums::<Int8Type, i64>::boxed(finish, result, bigint, 0),
        Some(LogicalType::SmallInt) => Sums::<Int16Type, i64>::boxed(finish, result, bigint, 0),
        Some(LogicalType::Int) => Sums::<Int32Type, i64>::boxed(finish, result, bigint, 0),
        Some(LogicalType::BigInt) => Sums::<Int64Type, i64>::boxed(finish, result, bigint, 0),
        Some(LogicalType::Float) => Sums::<Float32Type, f64>::boxed(finish, result, double, 0),
        Some(LogicalType::Double) => Sums::<Float64Type, f64>::boxed(finish, result, double, 0),
        Some(LogicalType::Decimal { scale, .. }) => {
            let shift = match result.logical {
                LogicalType::Decimal { scale: wanted, .. } => {
                    u32::from(wanted.saturating_sub(*scale))
                }
                _ => 0,
            };
            let state = DataTypes::decimal(38, *scale).not_null();
            Sums::<Decimal128Type, i128>::boxed(finish, result, state, shift)
        }
        _ => {
            return Err(FunctionError::InvalidArguments {
                function: function.to_owned(),
                arguments: crate::expression::join_types(arguments),
                signatures: vec![format!("{function}(<NUMERIC>)")],
            });
        }
    })
}

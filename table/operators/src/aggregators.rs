//! All aggregate calls of an operator, over dense group numbers.
//!
//! Beside the calls' accumulators there is the number of rows of each group, which says whether the group exists.

use std::sync::Arc;

use aquifer_functions::aggregate::{Accumulator, distinct, resolve_aggregate};
use aquifer_runtime::error::Result;
use aquifer_types::{ChangeBatch, DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::take::take;

use crate::error::{internal, user};

/// One aggregate of a query.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AggregateCall {
    /// The function's name.
    pub function: String,
    /// The arguments, as columns of the input, of exactly the types that the function takes.
    pub arguments: Vec<usize>,
    /// Whether each value counts once.
    pub distinct: bool,
    /// A BOOLEAN column of the input that must be true.
    pub filter: Option<usize>,
}

/// The state of all calls. See the module's description.
pub(crate) struct Aggregators {
    calls: Vec<Call>,
    counts: Vec<i64>,
}

struct Call {
    /// The function's name, for its errors.
    function: String,
    accumulator: Box<dyn Accumulator>,
    arguments: Vec<usize>,
    filter: Option<usize>,
    /// The number of columns of its state.
    state_columns: usize,
}

impl Aggregators {
    /// Binds calls over input columns of these types.
    pub(crate) fn new(
        calls: &[AggregateCall],
        types: &[DataType],
        append_only: bool,
    ) -> Result<Self> {
        let bind = |call: &AggregateCall| {
            let arguments: Vec<DataType> = call
                .arguments
                .iter()
                .map(|column| types[*column].clone())
                .collect();
            let (function, inferred) =
                resolve_aggregate(&call.function, &arguments).map_err(user)?;
            let taken = inferred
                .arguments
                .iter()
                .map(|data_type| &data_type.logical);
            if !arguments
                .iter()
                .map(|data_type| &data_type.logical)
                .eq(taken)
            {
                return Err(internal(format!(
                    "the arguments of {} were not cast to the types it takes: {arguments:?}",
                    call.function
                )));
            }
            let mut accumulator = function
                .accumulator(&inferred.arguments, &inferred.result, !append_only)
                .map_err(user)?;
            if call.distinct {
                accumulator = distinct(&inferred.arguments, accumulator).map_err(user)?;
            }
            let state_columns = accumulator.state_types().len();
            Ok(Call {
                function: call.function.clone(),
                accumulator,
                arguments: call.arguments.clone(),
                filter: call.filter,
                state_columns,
            })
        };
        Ok(Aggregators {
            calls: calls.iter().map(bind).collect::<Result<_>>()?,
            counts: Vec::new(),
        })
    }

    /// Makes room for the groups below `bound`.
    pub(crate) fn resize(&mut self, bound: usize) {
        if bound > self.counts.len() {
            self.counts.resize(bound, 0);
            self.calls
                .iter_mut()
                .for_each(|call| call.accumulator.resize(bound));
        }
    }

    /// Takes the rows of a batch; row i belongs to `groups[i]`.
    pub(crate) fn accumulate(&mut self, groups: &[u32], batch: &ChangeBatch) -> Result<()> {
        match batch.weights() {
            None => groups
                .iter()
                .for_each(|group| self.counts[*group as usize] += 1),
            Some(weights) => {
                for (group, weight) in groups.iter().zip(weights.values()) {
                    self.counts[*group as usize] += weight;
                }
            }
        }
        for call in &mut self.calls {
            let arguments: Vec<ArrayRef> = call
                .arguments
                .iter()
                .map(|column| batch.column(*column).clone())
                .collect();
            let Some(filter) = call.filter else {
                call.accumulator
                    .accumulate(groups, &arguments, batch.weights())
                    .map_err(|error| user(error.named(&call.function)))?;
                continue;
            };
            let filter = batch.column(filter);
            let selected = filter
                .as_boolean_opt()
                .ok_or_else(|| internal("a FILTER is a BOOLEAN"))?;
            let rows =
                (0..batch.len()).filter(|row| selected.is_valid(*row) && selected.value(*row));
            let rows: UInt32Array = rows.map(|row| row as u32).collect();
            let groups: Vec<u32> = rows
                .values()
                .iter()
                .map(|row| groups[*row as usize])
                .collect();
            let arguments = arguments.iter().map(|argument| take(argument, &rows, None));
            let arguments = arguments
                .collect::<Result<Vec<_>, ArrowError>>()
                .map_err(internal)?;
            let weights = batch.weights().map(|weights| {
                Int64Array::from_iter_values(
                    rows.values().iter().map(|row| weights.value(*row as usize)),
                )
            });
            call.accumulator
                .accumulate(&groups, &arguments, weights.as_ref())
                .map_err(|error| user(error.named(&call.function)))?;
        }
        Ok(())
    }

    /// The number of rows of a group.
    #[inline]
    pub(crate) fn rows(&self, group: u32) -> i64 {
        self.counts[group as usize]
    }

    /// The results of groups, one column per call.
    pub(crate) fn values(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        self.calls
            .iter()
            .map(|call| {
                call.accumulator
                    .value(groups)
                    .map_err(|error| user(error.named(&call.function)))
            })
            .collect()
    }

    /// Empties groups, so that their numbers can be used anew.
    pub(crate) fn clear(&mut self, groups: &[u32]) {
        groups
            .iter()
            .for_each(|group| self.counts[*group as usize] = 0);
        self.calls
            .iter_mut()
            .for_each(|call| call.accumulator.clear(groups));
    }

    /// The types of the columns of [`state`](Self::state).
    pub(crate) fn state_types(&self) -> Vec<DataType> {
        let mut types = vec![DataTypes::bigint().not_null()];
        types.extend(
            self.calls
                .iter()
                .flat_map(|call| call.accumulator.state_types()),
        );
        types
    }

    /// The state of groups as columns.
    pub(crate) fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let counts = groups.iter().map(|group| self.counts[*group as usize]);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(counts))];
        for call in &self.calls {
            columns.extend(call.accumulator.snapshot(groups).map_err(user)?);
        }
        Ok(columns)
    }

    /// Adds state to groups that have room.
    pub(crate) fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let counts = state[0].as_primitive::<Int64Type>();
        for (group, count) in groups.iter().zip(counts.values()) {
            self.counts[*group as usize] += count;
        }
        let mut rest = &state[1..];
        for call in &mut self.calls {
            let (columns, others) = rest.split_at(call.state_columns);
            call.accumulator.merge(groups, columns).map_err(user)?;
            rest = others;
        }
        Ok(())
    }

    /// True when all state adds up, so that [`unmerge`](Self::unmerge) takes it back exactly.
    pub(crate) fn is_linear(&self) -> bool {
        self.calls.iter().all(|call| call.accumulator.is_linear())
    }

    /// Takes back state that was merged; only of linear aggregators.
    pub(crate) fn unmerge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        let negated: Vec<ArrayRef> = state.iter().map(negated).collect::<Result<_>>()?;
        self.merge(groups, &negated)
    }

    /// Bytes held.
    pub(crate) fn size_bytes(&self) -> usize {
        let calls: usize = self
            .calls
            .iter()
            .map(|call| call.accumulator.size_bytes())
            .sum();
        calls + self.counts.capacity() * size_of::<i64>()
    }
}

/// A column of linear state with all numbers negated.
fn negated(column: &ArrayRef) -> Result<ArrayRef> {
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return Ok(Arc::new(numbers.unary::<_, Int64Type>(i64::wrapping_neg)));
    }
    match column.as_primitive_opt::<Decimal128Type>() {
        Some(numbers) => {
            let negated = numbers.unary::<_, Decimal128Type>(i128::wrapping_neg);
            Ok(Arc::new(negated.with_data_type(column.data_type().clone())))
        }
        None => Err(internal(format!(
            "linear state of type {}",
            column.data_type()
        ))),
    }
}

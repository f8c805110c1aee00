//! Projection and filter of rows.
//!
//! The condition gives one selection per batch; only the columns that the projection reads are selected, and plain
//! column references are passed on as they are. Expressions see only the rows that are kept, so a row that the
//! condition drops raises no error in the projection. Weights stay with their rows.
//!
//! A calc whose result depends on nothing but the row is a [step](calc_step), which is fused with its neighbours; one
//! that reads the clock is a [`CalcOperator`], because only an operator knows the epoch's time.

use std::collections::BTreeSet;
use std::sync::Arc;

use aquifer_functions::{EvalContext, Evaluator, ResolvedExpr, Volatility};
use aquifer_runtime::error::Result;
use aquifer_runtime::transformation::StepFactory;
use aquifer_runtime::{Batch, EpochOperator, Output};
use aquifer_types::ChangeBatch;
use aquifer_types::temporal::TimeZone;

use crate::error::{internal, user};

/// A compiled projection with an optional condition. See the module's description.
pub struct Calc {
    condition: Option<Evaluator>,
    /// The input's columns that the projection reads; its expressions count in these.
    reads: Vec<usize>,
    projection: Evaluator,
}

impl Calc {
    /// Compiles the expressions, all over the input's columns.
    ///
    /// # Errors
    /// When an expression cannot be compiled.
    pub fn compile(projection: &[ResolvedExpr], condition: Option<&ResolvedExpr>) -> Result<Self> {
        let reads: BTreeSet<usize> = projection.iter().flat_map(ResolvedExpr::inputs).collect();
        let reads: Vec<usize> = reads.into_iter().collect();
        let position = |column: usize| {
            reads
                .binary_search(&column)
                .expect("all inputs were collected")
        };
        let projection: Vec<ResolvedExpr> = projection
            .iter()
            .map(|expression| {
                expression
                    .clone()
                    .map_inputs(&mut |column| position(column))
            })
            .collect();
        Ok(Calc {
            condition: condition
                .map(Evaluator::compile)
                .transpose()
                .map_err(user)?,
            projection: Evaluator::compile_many(&projection).map_err(user)?,
            reads,
        })
    }

    /// The rows of `batch` that meet the condition, projected.
    ///
    /// # Errors
    /// When an expression fails on a row, and when the batch is of other types.
    pub fn apply(&self, batch: &ChangeBatch, context: &EvalContext) -> Result<ChangeBatch> {
        let mut input = batch.project(&self.reads);
        if let Some(condition) = &self.condition {
            let selection = condition
                .evaluate_filter(batch.columns(), batch.len(), context)
                .map_err(user)?;
            input = input.filter(&selection).map_err(internal)?;
        }
        let columns = self
            .projection
            .evaluate_many(input.columns(), input.len(), context)
            .map_err(user)?;
        input.with_columns(columns).map_err(internal)
    }
}

/// True when the result depends on the clock, so that a [`CalcOperator`] must be used instead of a step.
pub fn needs_clock(projection: &[ResolvedExpr], condition: Option<&ResolvedExpr>) -> bool {
    projection
        .iter()
        .chain(condition)
        .any(|expression| expression.volatility() == Volatility::Epoch)
}

/// A step that applies a calc; `zone` is the session's.
///
/// # Errors
/// When an expression cannot be compiled.
pub fn calc_step(
    projection: Vec<ResolvedExpr>,
    condition: Option<ResolvedExpr>,
    zone: TimeZone,
) -> Result<StepFactory> {
    // Compiled here once to report errors early, and then on each worker.
    Calc::compile(&projection, condition.as_ref())?;
    Ok(Arc::new(move |_| {
        let calc = Calc::compile(&projection, condition.as_ref())?;
        let context = EvalContext {
            time_zone: zone,
            ..EvalContext::default()
        };
        Ok(Box::new(move |batch: Batch| {
            let batch = batch.into_data::<ChangeBatch>()?;
            Ok(calc.apply(&batch, &context)?.into())
        }))
    }))
}

/// Applies a calc whose expressions read the epoch's time.
pub struct CalcOperator {
    calc: Calc,
    context: EvalContext,
}

impl CalcOperator {
    /// Applies `calc`; `zone` is the session's.
    pub fn new(calc: Calc, zone: TimeZone) -> Self {
        CalcOperator {
            calc,
            context: EvalContext {
                time_zone: zone,
                ..EvalContext::default()
            },
        }
    }
}

impl EpochOperator for CalcOperator {
    fn process(&mut self, _: usize, batch: Batch, output: &mut Output) -> Result<()> {
        self.context.epoch_time_ms = output.processing_time();
        let batch = batch.into_data::<ChangeBatch>()?;
        output.emit(0, self.calc.apply(&batch, &self.context)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use aquifer_runtime::testing::Harness;
    use aquifer_types::{DataTypes, Value};

    use super::*;
    use crate::testing::{changes, net};

    fn column(index: usize) -> ResolvedExpr {
        ResolvedExpr::input(index, DataTypes::int())
    }

    #[test]
    fn dropped_rows_raise_no_error_and_weights_stay() {
        let types = vec![DataTypes::int(), DataTypes::int(), DataTypes::string()];
        let quotient = ResolvedExpr::call("/", [column(0), column(1)]).unwrap();
        let condition = ResolvedExpr::call("<>", [column(1), ResolvedExpr::literal(0)]).unwrap();
        let calc = Calc::compile(&[quotient.clone(), column(0)], Some(&condition)).unwrap();
        let row = |a: i32, b: Option<i32>| {
            vec![
                Value::Int(a),
                b.map_or(Value::Null, Value::Int),
                Value::from("x"),
            ]
        };
        let input = || {
            changes(
                &types,
                [
                    (row(6, Some(3)), -2),
                    (row(1, Some(0)), 1),
                    (row(1, None), 1),
                ],
            )
        };
        let mut harness = Harness::new(CalcOperator::new(calc, TimeZone::default()), 1).unwrap();
        harness.process(0, input()).unwrap();
        let output = net(
            harness.end_epoch().unwrap(),
            &[DataTypes::int(), DataTypes::int()],
        );
        assert_eq!(
            output.into_iter().collect::<Vec<_>>(),
            [(vec![Value::Int(2), Value::Int(6)], -2)]
        );

        let calc = Calc::compile(&[quotient], None).unwrap();
        let mut harness = Harness::new(CalcOperator::new(calc, TimeZone::default()), 1).unwrap();
        assert_eq!(
            harness.process(0, input()).unwrap_err().code(),
            "user.error"
        );
    }
}

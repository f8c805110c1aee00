//! One evaluation: the columns of a batch, or of selected rows of it.

use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Datum, UInt32Array, new_null_array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType as ArrowType;
use arrow_select::interleave::interleave;
use arrow_select::zip::zip;

use super::program::{Evaluator, NodeId, Operation, selection};
use crate::cast::CastContext;
use crate::column::Column;
use crate::context::{CallContext, EvalContext};
use crate::error::{FunctionError, Result};
use crate::expression::with_stack;

/// Where a frame's input comes from.
enum Source<'a> {
    Columns(&'a [ArrayRef]),
    /// Rows of another frame.
    Rows {
        of: &'a Frame<'a>,
        indices: &'a UInt32Array,
    },
}

/// The nodes' values over some rows, each computed at most once.
pub(super) struct Frame<'a> {
    evaluator: &'a Evaluator,
    source: Source<'a>,
    rows: usize,
    context: &'a EvalContext,
    done: RefCell<Vec<Option<Column>>>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        evaluator: &'a Evaluator,
        columns: &'a [ArrayRef],
        rows: usize,
        context: &'a EvalContext,
    ) -> Self {
        let done = RefCell::new(vec![None; evaluator.nodes.len()]);
        Self {
            evaluator,
            source: Source::Columns(columns),
            rows,
            context,
            done,
        }
    }

    fn of_rows<'b>(&'b self, indices: &'b UInt32Array) -> Frame<'b> {
        Frame {
            evaluator: self.evaluator,
            source: Source::Rows { of: self, indices },
            rows: indices.len(),
            context: self.context,
            done: RefCell::new(vec![None; self.evaluator.nodes.len()]),
        }
    }

    fn known(&self, node: NodeId) -> Option<Column> {
        self.done.borrow()[node].clone()
    }

    /// Returns the value of a node for all rows of this frame.
    pub(super) fn column(&self, node: NodeId) -> Result<Column> {
        if let Some(column) = self.known(node) {
            return Ok(column);
        }
        let column = match &self.source {
            Source::Rows { of, indices } => match of.known(node) {
                Some(column) => column.take(indices)?,
                None => with_stack(|| self.compute(node))?,
            },
            Source::Columns(_) => with_stack(|| self.compute(node))?,
        };
        self.done.borrow_mut()[node] = Some(column.clone());
        Ok(column)
    }

    fn array(&self, node: NodeId) -> Result<ArrayRef> {
        self.column(node)?.into_array(self.rows)
    }

    fn compute(&self, node: NodeId) -> Result<Column> {
        let Some(node) = self.evaluator.nodes.get(node) else {
            unreachable!("node {node} was made by the compiler")
        };
        match &node.operation {
            Operation::Literal(column) => Ok(column.clone()),
            Operation::Input(index) => self.input(*index),
            Operation::Call {
                function,
                kernel,
                args,
                per_row,
            } => {
                let args = args
                    .iter()
                    .map(|a| self.column(*a))
                    .collect::<Result<Vec<_>>>()?;
                let call = |args: &[Column], rows: usize| {
                    let context = CallContext {
                        rows,
                        eval: self.context,
                    };
                    kernel(args, &context).map_err(|e| e.named(function))
                };
                if *per_row || !args.iter().all(Column::is_scalar) {
                    return call(&args, self.rows);
                }
                // One result for all rows.
                let args: Vec<Column> = args
                    .into_iter()
                    .map(|a| Column::Array(a.array().clone()))
                    .collect();
                Ok(Column::Scalar(call(&args, 1)?.array().clone()))
            }
            Operation::Cast { cast, input, try_ } => {
                let context = CastContext {
                    eval: self.context,
                    try_: *try_,
                };
                let input = self.column(*input)?;
                let name = if *try_ { "TRY_CAST" } else { "CAST" };
                let array = cast(input.array(), &context).map_err(|e| e.named(name))?;
                Ok(if input.is_scalar() {
                    Column::Scalar(array)
                } else {
                    Column::Array(array)
                })
            }
            Operation::Logic { args, stop } => self.logic(args, *stop),
            Operation::Coalesce { args } => self.coalesce(args),
            Operation::Case {
                branches,
                otherwise,
            } => {
                let parts = branches
                    .iter()
                    .flat_map(|(c, r)| [*c, *r])
                    .chain([*otherwise]);
                // The first condition is always needed.
                let selective = parts.skip(1).any(|n| self.evaluator.nodes[n].selective);
                if selective {
                    self.case_by_rows(branches, *otherwise, &node.data_type.to_arrow())
                } else {
                    self.case_on_all_rows(branches, *otherwise)
                }
            }
        }
    }

    fn input(&self, index: usize) -> Result<Column> {
        match &self.source {
            Source::Columns(columns) => match columns.get(index) {
                Some(column) => Ok(Column::Array(Arc::clone(column))),
                None => Err(FunctionError::MissingInput {
                    index,
                    columns: columns.len(),
                }),
            },
            Source::Rows { of, indices } => of.input(index)?.take(indices),
        }
    }

    /// AND (`stop` false) or OR (`stop` true).
    fn logic(&self, args: &[NodeId], stop: bool) -> Result<Column> {
        let combine = |a: &BooleanArray, b: &BooleanArray| {
            if stop {
                arrow_arith::boolean::or_kleene(a, b)
            } else {
                arrow_arith::boolean::and_kleene(a, b)
            }
        };
        let Some((first, rest)) = args.split_first() else {
            unreachable!("AND and OR are inferred with two arguments or more")
        };
        let mut all = self.array(*first)?.as_boolean().clone();
        for next in rest {
            if !self.evaluator.nodes[*next].selective {
                all = combine(&all, self.array(*next)?.as_boolean())?;
                continue;
            }
            // Rows whose value is `stop` are decided.
            let open: Vec<u32> = (0..self.rows as u32)
                .filter(|i| all.is_null(*i as usize) || all.value(*i as usize) != stop)
                .collect();
            if open.is_empty() {
                break;
            }
            if open.len() == self.rows {
                all = combine(&all, self.array(*next)?.as_boolean())?;
                continue;
            }
            let open = UInt32Array::from(open);
            let part = self.of_rows(&open).array(*next)?;
            let part = part.as_boolean();
            // Decided rows stay so whatever stands on the other side.
            let mut next: Vec<Option<bool>> = vec![Some(stop); self.rows];
            for (i, row) in open.values().iter().enumerate() {
                next[*row as usize] = part.is_valid(i).then(|| part.value(i));
            }
            all = combine(&all, &BooleanArray::from(next))?;
        }
        Ok(Column::Array(Arc::new(all)))
    }

    fn coalesce(&self, args: &[NodeId]) -> Result<Column> {
        let Some((first, rest)) = args.split_first() else {
            unreachable!("COALESCE is inferred with one argument or more")
        };
        let first = self.column(*first)?;
        if first.is_scalar() && !first.is_null_scalar() {
            return Ok(first);
        }
        let mut result = first.into_array(self.rows)?;
        for next in rest {
            let Some(nulls) = result.logical_nulls().filter(|n| n.null_count() > 0) else {
                break;
            };
            let missing = BooleanArray::new(!nulls.inner(), None);
            let next = if self.evaluator.nodes[*next].selective && nulls.null_count() < self.rows {
                let rows =
                    UInt32Array::from_iter_values(missing.values().set_indices().map(|i| i as u32));
                let part = self.of_rows(&rows).array(*next)?;
                self.scatter(&rows, &part)?
            } else {
                self.column(*next)?
            };
            result = choose(&missing, &next, &Column::Array(result))?;
        }
        Ok(Column::Array(result))
    }

    /// Puts the values of some rows at these rows of a column that is NULL elsewhere.
    fn scatter(&self, rows: &UInt32Array, values: &ArrayRef) -> Result<Column> {
        let null = new_null_array(values.data_type(), 1);
        let mut from = vec![(1, 0); self.rows];
        for (i, row) in rows.values().iter().enumerate() {
            from[*row as usize] = (0, i);
        }
        Ok(Column::Array(interleave(
            &[values.as_ref(), null.as_ref()],
            &from,
        )?))
    }

    /// CASE whose parts cannot fail: from the last branch to the first, each overrides the rest.
    fn case_on_all_rows(&self, branches: &[(NodeId, NodeId)], otherwise: NodeId) -> Result<Column> {
        let mut result = self.column(otherwise)?;
        for (condition, value) in branches.iter().rev() {
            let condition = self.column(*condition)?;
            if condition.is_scalar() {
                let condition = condition.array().as_boolean();
                if condition.is_valid(0) && condition.value(0) {
                    result = self.column(*value)?;
                }
                continue;
            }
            let condition = selection(condition.array().as_boolean());
            let value = self.column(*value)?;
            result = Column::Array(choose(&condition, &value, &result)?);
        }
        Ok(result)
    }

    /// CASE whose parts may fail: each part sees only the rows that reach it.
    fn case_by_rows(
        &self,
        branches: &[(NodeId, NodeId)],
        otherwise: NodeId,
        arrow: &ArrowType,
    ) -> Result<Column> {
        let mut open: Vec<u32> = (0..self.rows as u32).collect();
        let mut parts: Vec<ArrayRef> = Vec::with_capacity(branches.len() + 1);
        let mut from = vec![(0, 0); self.rows];
        let mut place = |rows: &[u32], part: ArrayRef, parts: &mut Vec<ArrayRef>| {
            for (i, row) in rows.iter().enumerate() {
                from[*row as usize] = (parts.len(), i);
            }
            parts.push(part);
        };
        for (condition, value) in branches {
            if open.is_empty() {
                break;
            }
            let (yes, no): (Vec<u32>, Vec<u32>) = if open.len() == self.rows {
                let condition = self.array(*condition)?;
                split(&open, &selection(condition.as_boolean()))
            } else {
                let indices = UInt32Array::from(open);
                let condition = self.of_rows(&indices).array(*condition)?;
                split(indices.values(), &selection(condition.as_boolean()))
            };
            if !yes.is_empty() {
                let part = self.part(&yes, *value)?;
                place(&yes, part, &mut parts);
            }
            open = no;
        }
        if !open.is_empty() {
            let part = self.part(&open, otherwise)?;
            place(&open, part, &mut parts);
        }
        if parts.is_empty() {
            return Ok(Column::Array(new_null_array(arrow, self.rows)));
        }
        if let [one] = parts.as_slice() {
            return Ok(Column::Array(Arc::clone(one)));
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(Column::Array(interleave(&parts, &from)?))
    }

    /// Evaluates a node on some rows.
    fn part(&self, rows: &[u32], node: NodeId) -> Result<ArrayRef> {
        if rows.len() == self.rows {
            return self.array(node);
        }
        let indices = UInt32Array::from(rows.to_vec());
        self.of_rows(&indices).array(node)
    }
}

/// Returns for each row the first value where the condition is true, else the second.
fn choose(condition: &BooleanArray, yes: &Column, no: &Column) -> Result<ArrayRef> {
    let (yes, no): (&dyn Datum, &dyn Datum) = (yes, no);
    Ok(zip(condition, yes, no)?)
}

/// Splits rows by a condition on them.
fn split(rows: &[u32], condition: &BooleanArray) -> (Vec<u32>, Vec<u32>) {
    let bits: &BooleanBuffer = condition.values();
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for (i, row) in rows.iter().enumerate() {
        if bits.value(i) {
            yes.push(*row);
        } else {
            no.push(*row);
        }
    }
    (yes, no)
}

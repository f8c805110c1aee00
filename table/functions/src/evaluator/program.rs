//! The compiled form and its public face.

use aquifer_types::DataType;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, new_empty_array, new_null_array};
use arrow_schema::DataType as ArrowType;

use super::compile::Compiler;
use super::frame::Frame;
use crate::cast::CastFn;
use crate::column::Column;
use crate::context::EvalContext;
use crate::definition::{Kernel, Volatility};
use crate::error::Result;
use crate::expression::ResolvedExpr;

/// Index of a node; a node's arguments have smaller indices.
pub(super) type NodeId = usize;

/// What a node computes.
pub(super) enum Operation {
    Literal(Column),
    Input(usize),
    Call {
        function: String,
        kernel: Kernel,
        args: Vec<NodeId>,
        per_row: bool,
    },
    Cast {
        cast: CastFn,
        input: NodeId,
        try_: bool,
    },
    /// AND if `stop` is false, OR if it is true: a value of `stop` decides.
    Logic {
        args: Vec<NodeId>,
        stop: bool,
    },
    Coalesce {
        args: Vec<NodeId>,
    },
    Case {
        branches: Vec<(NodeId, NodeId)>,
        otherwise: NodeId,
    },
}

/// One node of the compiled graph.
pub(super) struct Node {
    pub(super) operation: Operation,
    pub(super) data_type: DataType,
    /// Whether this node or one below it can fail or differs from row to row.
    pub(super) selective: bool,
}

/// One or more expressions over the same input, compiled.
pub struct Evaluator {
    pub(super) nodes: Vec<Node>,
    roots: Vec<NodeId>,
    volatility: Volatility,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("nodes", &self.nodes.len())
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl Evaluator {
    /// Compiles one expression.
    ///
    /// # Errors
    /// `function.unknown` for a function that does not exist; what its kernel says about literal
    /// arguments.
    pub fn compile(expr: &ResolvedExpr) -> Result<Self> {
        Self::compile_many(std::slice::from_ref(expr))
    }

    /// Compiles several expressions over the same input; what they share is computed once.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compile_many(exprs: &[ResolvedExpr]) -> Result<Self> {
        let mut compiler = Compiler::default();
        let roots = exprs
            .iter()
            .map(|e| compiler.add_root(e))
            .collect::<Result<_>>()?;
        let volatility = exprs
            .iter()
            .map(ResolvedExpr::volatility)
            .max()
            .unwrap_or(Volatility::Immutable);
        Ok(Self {
            nodes: compiler.into_nodes(),
            roots,
            volatility,
        })
    }

    /// Makes an evaluator of one constant.
    pub(super) fn from_nodes(nodes: Vec<Node>, root: NodeId) -> Self {
        Self {
            nodes,
            roots: vec![root],
            volatility: Volatility::Immutable,
        }
    }

    /// Returns when the values may change for the same input.
    #[must_use]
    pub fn volatility(&self) -> Volatility {
        self.volatility
    }

    /// Returns the types of the expressions.
    pub fn data_types(&self) -> impl Iterator<Item = &DataType> {
        self.roots.iter().map(|root| &self.nodes[*root].data_type)
    }

    /// Evaluates the first expression over columns of `rows` rows.
    ///
    /// # Errors
    /// `function.runtime` with function and value if a row fails; `function.missing_input` if a
    /// column is missing.
    pub fn evaluate(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        context: &EvalContext,
    ) -> Result<ArrayRef> {
        let mut columns = self.evaluate_first(columns, rows, context, 1)?;
        Ok(columns
            .pop()
            .unwrap_or_else(|| new_null_array(&ArrowType::Null, rows)))
    }

    /// Evaluates all expressions over columns of `rows` rows.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_many(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        context: &EvalContext,
    ) -> Result<Vec<ArrayRef>> {
        self.evaluate_first(columns, rows, context, self.roots.len())
    }

    /// Evaluates the first `count` expressions.
    fn evaluate_first(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        context: &EvalContext,
        count: usize,
    ) -> Result<Vec<ArrayRef>> {
        let roots = self.roots.iter().take(count);
        if rows == 0 {
            // No row may fail, constants neither.
            let empty = |root: &NodeId| new_empty_array(&self.nodes[*root].data_type.to_arrow());
            return Ok(roots.map(empty).collect());
        }
        let frame = Frame::new(self, columns, rows, context);
        roots
            .map(|root| frame.column(*root)?.into_array(rows))
            .collect()
    }

    /// Evaluates the first expression, a condition; NULL counts as FALSE.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_filter(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        context: &EvalContext,
    ) -> Result<BooleanArray> {
        let array = self.evaluate(columns, rows, context)?;
        Ok(selection(array.as_boolean()))
    }
}

/// Returns a condition with NULL replaced by FALSE.
pub(super) fn selection(condition: &BooleanArray) -> BooleanArray {
    match condition.nulls().filter(|n| n.null_count() > 0) {
        None => BooleanArray::new(condition.values().clone(), None),
        Some(nulls) => BooleanArray::new(condition.values() & nulls.inner(), None),
    }
}

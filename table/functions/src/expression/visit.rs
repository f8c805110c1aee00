//! Walking and rewriting trees.

use std::collections::BTreeSet;

use super::ResolvedExpr;
use crate::definition::Volatility;
use crate::scalar::find_function;

/// Goes one level down a tree, with more stack if little is left: chains of operators are deep trees.
/// What is left must do for what is derived, such as a copy of the whole tree below.
pub(crate) fn with_stack<R>(below: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, below)
}

impl ResolvedExpr {
    /// Calls a function on this node and all below it, parents first.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Self)) {
        f(self);
        with_stack(|| {
            for child in self.children() {
                child.visit(f);
            }
        });
    }

    /// Returns the number of nodes in the tree.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.visit(&mut |_| size += 1);
        size
    }

    /// Returns the nodes directly below this one, in order of evaluation.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Literal { .. } | Self::InputRef { .. } => vec![],
            Self::Call { args, .. } => args.iter().collect(),
            Self::Cast { expr, .. } => vec![expr],
            Self::Case {
                branches,
                otherwise,
                ..
            } => branches
                .iter()
                .flat_map(|(condition, result)| [condition, result])
                .chain([otherwise.as_ref()])
                .collect(),
        }
    }

    /// Rewrites the tree from the leaves up: every node is passed to `f` after its children.
    #[must_use]
    pub fn transform(self, f: &mut impl FnMut(Self) -> Self) -> Self {
        let node = with_stack(|| self.transform_below(f));
        f(node)
    }

    fn transform_below(self, f: &mut impl FnMut(Self) -> Self) -> Self {
        match self {
            Self::Call {
                function,
                args,
                data_type,
            } => Self::Call {
                function,
                args: args.into_iter().map(|a| a.transform(f)).collect(),
                data_type,
            },
            Self::Cast {
                expr,
                data_type,
                try_,
            } => Self::Cast {
                expr: Box::new(expr.transform(f)),
                data_type,
                try_,
            },
            Self::Case {
                branches,
                otherwise,
                data_type,
            } => Self::Case {
                branches: branches
                    .into_iter()
                    .map(|(c, r)| (c.transform(f), r.transform(f)))
                    .collect(),
                otherwise: Box::new(otherwise.transform(f)),
                data_type,
            },
            leaf => leaf,
        }
    }

    /// Returns the tree with other column indices, as a projection or join needs it.
    #[must_use]
    pub fn map_inputs(self, map: &mut impl FnMut(usize) -> usize) -> Self {
        self.transform(&mut |node| match node {
            Self::InputRef { index, data_type } => Self::InputRef {
                index: map(index),
                data_type,
            },
            other => other,
        })
    }

    /// Returns the tree with each column replaced by an expression.
    #[must_use]
    pub fn substitute(self, inputs: &[Self]) -> Self {
        self.transform(&mut |node| match node {
            Self::InputRef { index, .. } if index < inputs.len() => inputs[index].clone(),
            other => other,
        })
    }

    /// Returns the indices of all columns that are read.
    #[must_use]
    pub fn inputs(&self) -> BTreeSet<usize> {
        let mut inputs = BTreeSet::new();
        self.visit(&mut |node| {
            if let Self::InputRef { index, .. } = node {
                inputs.insert(*index);
            }
        });
        inputs
    }

    /// Returns when the value may change for the same input.
    #[must_use]
    pub fn volatility(&self) -> Volatility {
        let mut volatility = Volatility::Immutable;
        self.visit(&mut |node| {
            if let Self::Call { function, .. } = node {
                // An unknown function is found at compile time; until then assume the worst.
                let found = find_function(function).map_or(Volatility::Row, |d| d.volatility());
                volatility = volatility.max(found);
            }
        });
        volatility
    }

    /// Returns whether the same input always gives the same value.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.volatility() == Volatility::Immutable
    }

    /// Returns whether no column and no clock or chance decides the value.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.is_deterministic() && self.inputs().is_empty()
    }
}

//! The tree.

use aquifer_types::{DataType, Value};
use serde::{Deserialize, Serialize};

/// A typed expression over the columns of one input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResolvedExpr {
    /// A constant.
    Literal {
        /// The value.
        value: Value,
        /// Its type.
        data_type: DataType,
    },
    /// A column of the input.
    InputRef {
        /// Its index.
        index: usize,
        /// Its type.
        data_type: DataType,
    },
    /// A call of a function.
    Call {
        /// The function's main name.
        function: String,
        /// The arguments, of exactly the types that the function takes.
        args: Vec<ResolvedExpr>,
        /// The result's type.
        data_type: DataType,
    },
    /// A conversion.
    Cast {
        /// What is converted.
        expr: Box<ResolvedExpr>,
        /// The type to convert to.
        data_type: DataType,
        /// Whether a value that cannot be converted becomes NULL (`TRY_CAST`).
        #[serde(default, rename = "try", skip_serializing_if = "std::ops::Not::not")]
        try_: bool,
    },
    /// The result of the first branch whose condition is true.
    Case {
        /// Conditions (BOOLEAN) and results, all of this node's kind.
        branches: Vec<(ResolvedExpr, ResolvedExpr)>,
        /// The result when no condition is true.
        otherwise: Box<ResolvedExpr>,
        /// The type of all results.
        data_type: DataType,
    },
}

impl ResolvedExpr {
    /// Returns the expression's type.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        match self {
            Self::Literal { data_type, .. }
            | Self::InputRef { data_type, .. }
            | Self::Call { data_type, .. }
            | Self::Cast { data_type, .. }
            | Self::Case { data_type, .. } => data_type,
        }
    }

    /// Returns the value of a literal.
    #[must_use]
    pub fn as_literal(&self) -> Option<&Value> {
        match self {
            Self::Literal { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the index of a bare column reference.
    #[must_use]
    pub fn as_input(&self) -> Option<usize> {
        match self {
            Self::InputRef { index, .. } => Some(*index),
            _ => None,
        }
    }
}

//! The unresolved expression tree of the Table API.
//!
//! Columns and functions are names here; the planner's analyser resolves the tree against an input
//! to the typed tree that execution uses. SQL text may stand anywhere as [`Expr::Sql`].

use aquifer_types::{DataType, Value};

/// An unresolved expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column by name.
    Column(String),
    /// All columns of the input: `col("*")`.
    Star,
    /// A constant.
    Literal(Literal),
    /// A call of a function or operator by its name in the function registry.
    Call {
        /// The function's name.
        function: String,
        /// Its arguments.
        args: Vec<Expr>,
        /// Whether an aggregate sees each value once.
        distinct: bool,
    },
    /// A conversion.
    Cast {
        /// What is converted.
        expr: Box<Expr>,
        /// To which type.
        data_type: DataType,
        /// Whether a failure gives NULL.
        is_try: bool,
    },
    /// A name for the result.
    Alias {
        /// The expression.
        expr: Box<Expr>,
        /// The name.
        name: String,
    },
    /// An expression as SQL text.
    Sql(String),
}

/// A constant with its type; without one the type follows from the value.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Its type.
    pub data_type: Option<DataType>,
}

impl Expr {
    /// The name a column made by this expression gets, if it has one of its own.
    pub fn output_name(&self) -> Option<&str> {
        match self {
            Expr::Column(name) | Expr::Alias { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl From<&str> for Expr {
    /// Text is SQL.
    fn from(text: &str) -> Self {
        Expr::Sql(text.to_string())
    }
}

impl From<String> for Expr {
    fn from(text: String) -> Self {
        Expr::Sql(text)
    }
}

//! What a function is: names, signatures, determinism, NULL rule and implementation.
//!
//! A built-in function is a `BuiltIn` constant in a file of its own and stands in the sorted
//! list of [`crate::scalar`]. The planner and the evaluator see the trait alone.

use std::fmt;

use aquifer_types::{DataType, Value};

use crate::column::Column;
use crate::context::CallContext;
use crate::error::{FunctionError, Result};
use crate::expression::ResolvedExpr;
use crate::signature::{Argument, Inferred, Signature};

/// A compiled call: takes the arguments' columns and returns the result's column.
///
/// The evaluator calls a deterministic kernel with arrays of one row when all arguments are
/// scalars, so that kernels return [`Column::Array`] of `context.rows` rows without a special case.
pub type Kernel = Box<dyn Fn(&[Column], &CallContext<'_>) -> Result<Column> + Send + Sync>;

/// What a kernel is compiled from.
#[derive(Debug, Clone, Copy)]
pub struct KernelArgs<'a> {
    /// Types of the arguments, already brought to the signature's.
    pub types: &'a [DataType],
    /// Values of the arguments that are literals.
    pub literals: &'a [Option<Value>],
    /// Type of the result.
    pub result: &'a DataType,
}

impl KernelArgs<'_> {
    /// Returns the text of an argument that is a string literal.
    #[must_use]
    pub fn literal_text(&self, position: usize) -> Option<&str> {
        self.literals.get(position)?.as_ref()?.as_str()
    }
}

/// How a function is run.
#[derive(Clone, Copy)]
pub enum Implementation {
    /// By a kernel over columns.
    Kernel(fn(&KernelArgs<'_>) -> Result<Kernel>),
    /// By another expression.
    Rewrite(fn(&[ResolvedExpr], &DataType) -> Result<ResolvedExpr>),
    /// By the evaluator: three-valued AND, whose right side sees only rows where the left is not false.
    And,
    /// By the evaluator: three-valued OR, whose right side sees only rows where the left is not true.
    Or,
    /// By the evaluator: the first value that is not NULL; later ones see only the other rows.
    Coalesce,
}

impl fmt::Debug for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel(_) => "Kernel",
            Self::Rewrite(_) => "Rewrite",
            Self::And => "And",
            Self::Or => "Or",
            Self::Coalesce => "Coalesce",
        })
    }
}

/// When a function's result may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// Never: the same arguments give the same result, so that literals can be folded.
    Immutable,
    /// From epoch to epoch, such as the clock functions.
    Epoch,
    /// From row to row, such as RAND.
    Row,
}

/// How a call is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `NAME(a, b)`.
    Call,
    /// `(a NAME b)`, or `NAME a` with one argument.
    Infix,
    /// `a NAME`.
    Postfix,
    /// `NAME`, without parentheses.
    Bare,
}

/// A scalar function.
pub trait FunctionDefinition: fmt::Debug + Send + Sync {
    /// The name, in capitals.
    fn name(&self) -> &str;

    /// Other names, in capitals.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// The accepted signatures as text, for errors and the reference.
    fn signatures(&self) -> Vec<String>;

    /// Returns the types of arguments and result; nothing if the arguments are not taken.
    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred>;

    /// When the result may change.
    fn volatility(&self) -> Volatility {
        Volatility::Immutable
    }

    /// Whether some values of the accepted types make it fail.
    ///
    /// A function that cannot fail may be evaluated on rows whose result is not used.
    fn is_fallible(&self) -> bool {
        true
    }

    /// How a call is printed.
    fn notation(&self) -> Notation {
        Notation::Call
    }

    /// How it is run.
    fn implementation(&self) -> Implementation;

    /// One sentence on what it returns.
    fn doc(&self) -> &str;
}

/// How a built-in function infers its types.
#[derive(Clone, Copy)]
pub(crate) enum Inference {
    /// By the first of these signatures that fits.
    Signatures(&'static [Signature]),
    /// By a function; the texts describe what it takes.
    Custom(
        &'static [&'static str],
        fn(&[Argument<'_>]) -> Option<Inferred>,
    ),
}

/// How NULL arguments decide about the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The result is NULL exactly if an argument is.
    Propagate,
    /// The result may be NULL whatever the arguments are.
    Always,
    /// The result is never NULL.
    Never,
    /// Inference says it.
    Inferred,
}

/// A built-in function as data.
#[derive(Clone, Copy)]
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) inference: Inference,
    pub(crate) nulls: Nulls,
    pub(crate) volatility: Volatility,
    pub(crate) fallible: bool,
    pub(crate) notation: Notation,
    pub(crate) implementation: Implementation,
    pub(crate) doc: &'static str,
}

impl BuiltIn {
    /// Starts a function of signatures that is run by a kernel.
    pub(crate) const fn new(
        name: &'static str,
        doc: &'static str,
        signatures: &'static [Signature],
        kernel: fn(&KernelArgs<'_>) -> Result<Kernel>,
    ) -> Self {
        Self::with(
            name,
            doc,
            Inference::Signatures(signatures),
            Implementation::Kernel(kernel),
        )
    }

    /// Starts a function of any inference and implementation.
    pub(crate) const fn with(
        name: &'static str,
        doc: &'static str,
        inference: Inference,
        implementation: Implementation,
    ) -> Self {
        let nulls = match inference {
            Inference::Signatures(_) => Nulls::Propagate,
            Inference::Custom(..) => Nulls::Inferred,
        };
        Self {
            name,
            aliases: &[],
            inference,
            nulls,
            volatility: Volatility::Immutable,
            fallible: true,
            notation: Notation::Call,
            implementation,
            doc,
        }
    }

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(crate) const fn nulls(self, nulls: Nulls) -> Self {
        Self { nulls, ..self }
    }

    pub(crate) const fn volatility(self, volatility: Volatility) -> Self {
        Self { volatility, ..self }
    }

    pub(crate) const fn infallible(self) -> Self {
        Self {
            fallible: false,
            ..self
        }
    }

    pub(crate) const fn notation(self, notation: Notation) -> Self {
        Self { notation, ..self }
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl FunctionDefinition for BuiltIn {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[&str] {
        self.aliases
    }

    fn signatures(&self) -> Vec<String> {
        match self.inference {
            Inference::Signatures(list) => list.iter().map(|s| s.describe(self.name)).collect(),
            Inference::Custom(texts, _) => texts.iter().map(|&t| t.to_owned()).collect(),
        }
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let mut inferred = match self.inference {
            Inference::Signatures(list) => list.iter().find_map(|s| s.infer(arguments)),
            Inference::Custom(_, infer) => infer(arguments),
        }?;
        match self.nulls {
            Nulls::Propagate => {
                inferred.result.nullable = inferred.arguments.iter().any(|t| t.nullable);
            }
            Nulls::Always => inferred.result.nullable = true,
            Nulls::Never => inferred.result.nullable = false,
            Nulls::Inferred => {}
        }
        Some(inferred)
    }

    fn volatility(&self) -> Volatility {
        self.volatility
    }

    fn is_fallible(&self) -> bool {
        self.fallible
    }

    fn notation(&self) -> Notation {
        self.notation
    }

    fn implementation(&self) -> Implementation {
        self.implementation
    }

    fn doc(&self) -> &str {
        self.doc
    }
}

/// Returns the types of a call, or an error that lists what is accepted.
///
/// # Errors
/// `function.invalid_arguments`.
pub fn infer_call(
    function: &dyn FunctionDefinition,
    arguments: &[Argument<'_>],
) -> Result<Inferred> {
    function
        .infer(arguments)
        .ok_or_else(|| FunctionError::InvalidArguments {
            function: function.name().to_owned(),
            arguments: arguments
                .iter()
                .map(|a| a.data_type.to_string())
                .collect::<Vec<_>>()
                .join(", "),
            signatures: function.signatures(),
        })
}

//! `CAST` and `TRY_CAST` over columns, for every pair of types that [`supports_explicit_cast`]
//! allows.
//!
//! Source: Flink's cast rules. Integers wrap when narrowed, floating point numbers are cut towards
//! zero and saturate, numbers that exceed a DECIMAL become NULL, text that is no value of the type
//! is an error (NULL with `TRY_CAST`). Text is cut to its type's length, CHAR padded with blanks,
//! BINARY with zeros.

mod from_text;
mod length;
mod nested;
mod number;
mod temporal;
mod to_text;

#[cfg(test)]
mod tests;

use aquifer_types::{DataType, LogicalType, supports_explicit_cast};
use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_select::concat::concat;

use crate::context::EvalContext;
use crate::error::{FunctionError, Result};
use crate::kernel::rows::Write;

/// What a cast knows about its evaluation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CastContext<'a> {
    pub(crate) eval: &'a EvalContext,
    /// Whether a value that cannot be converted becomes NULL.
    pub(crate) try_: bool,
}

/// A compiled cast.
pub(crate) type CastFn = Box<dyn Fn(&ArrayRef, &CastContext<'_>) -> Result<ArrayRef> + Send + Sync>;

/// Compiles the cast between two types.
pub(crate) fn compile(from: &DataType, to: &DataType) -> Result<CastFn> {
    use LogicalType as T;
    let unsupported = || FunctionError::UnsupportedCast {
        from: from.to_string(),
        to: to.to_string(),
    };
    // Nullability is the planner's business: a NULL stays NULL whatever the type says.
    if !supports_explicit_cast(from, &to.clone().null()) {
        return Err(unsupported());
    }
    let (f, t) = (&from.logical, &to.logical);
    if f == t {
        return Ok(Box::new(|array, _| Ok(array.clone())));
    }
    let found = match (f, t) {
        (T::Null, _) => {
            let arrow = to.to_arrow();
            return Ok(Box::new(move |array, _| {
                Ok(new_null_array(&arrow, array.len()))
            }));
        }
        (T::Char(_) | T::VarChar(_), T::Char(_) | T::VarChar(_)) => length::text(f, t),
        (T::Binary(_) | T::VarBinary(_), T::Binary(_) | T::VarBinary(_)) => length::binary(f, t),
        (_, T::Char(_) | T::VarChar(_)) => Some(to_text::compile(from, t)),
        (T::Char(_) | T::VarChar(_), _) => from_text::compile(to),
        (T::Boolean, _) => number::from_boolean(to),
        (_, T::Boolean) => number::to_boolean(f),
        _ if f.is_numeric() && t.is_numeric() => number::compile(from, to),
        _ if f.is_datetime() && t.is_datetime() => temporal::compile(f, to),
        _ if f.is_nested() && t.is_nested() => return nested::compile(from, to),
        _ => None,
    };
    found.ok_or_else(unsupported)
}

/// Appends a value; one that is out of its type's range becomes NULL with `TRY_CAST`.
fn push<R: Write>(value: R, builder: &mut R::Builder, context: &CastContext<'_>) -> Result<()> {
    match value.push(builder) {
        Err(_) if context.try_ => {
            R::push_null(builder);
            Ok(())
        }
        other => other.map_err(|error| FunctionError::runtime(error.to_string())),
    }
}

/// Runs a nested cast; with `TRY_CAST` a row with one bad part becomes NULL as a whole.
fn by_rows(
    array: &ArrayRef,
    to: &DataType,
    strict: impl Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    match strict(array) {
        Ok(done) => Ok(done),
        Err(FunctionError::Runtime { .. }) => {
            let rows: Vec<ArrayRef> = (0..array.len())
                .map(|i| match strict(&array.slice(i, 1)) {
                    Err(FunctionError::Runtime { .. }) => Ok(new_null_array(&to.to_arrow(), 1)),
                    other => other,
                })
                .collect::<Result<_>>()?;
            let rows: Vec<&dyn Array> = rows.iter().map(AsRef::as_ref).collect();
            Ok(concat(&rows)?)
        }
        Err(other) => Err(other),
    }
}

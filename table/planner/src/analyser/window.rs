//! Window table functions: TUMBLE, HOP and CUMULATE in FROM.
//!
//! `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE))`, also with named arguments. The
//! column must be an event-time attribute: only then is it known when a window is complete.

use std::sync::Arc;

use aquifer_functions::evaluator::fold_constants;
use aquifer_table_common::operation::{QueryOperation, WindowKind, WindowQuery};
use aquifer_table_common::{Result, ValidationErrorKind};
use aquifer_types::{DataTypes, Field, LogicalType, Value};
use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, TableAlias};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::begin::begin_of_expr;
use super::expression::Resolver;
use super::from::Input;
use super::scope::Scope;
use crate::properties::time_attributes;

/// The names of the arguments behind the table and the column, in order; the last may be left out.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("CUMULATE", &["STEP", "SIZE", "OFFSET"]),
    ("HOP", &["SLIDE", "SIZE", "OFFSET"]),
    ("TUMBLE", &["SIZE", "OFFSET"]),
];

impl Analyser<'_> {
    /// A table function in FROM.
    pub(super) fn table_function(
        &self,
        name: &str,
        args: &[FunctionArg],
        alias: Option<&TableAlias>,
        span: Span,
    ) -> Result<Input> {
        let upper = name.to_ascii_uppercase();
        let Some((function, lengths)) = FUNCTIONS.iter().find(|(f, _)| *f == upper) else {
            return Err(self.unsupported(format!("the table function {upper} in FROM"), span));
        };
        let mut names = vec!["DATA", "TIMECOL"];
        names.extend(*lengths);
        let found = self.arguments_by_name(function, &names, args, span)?;
        let wanted = |index: usize| {
            let missing = format!("{function} needs the argument {}", names[index]);
            found[index].ok_or_else(|| self.invalid_clause(missing, span))
        };
        let input = self.table_argument(wanted(0)?)?;
        let column = self.descriptor(wanted(1)?, &input)?;
        let mut lengths_ms = Vec::with_capacity(names.len() - 2);
        for index in 2..names.len() {
            let is_offset = index + 1 == names.len();
            lengths_ms.push(match found[index] {
                None if is_offset => 0,
                _ => self.length_ms(names[index], wanted(index)?, is_offset)?,
            });
        }
        let window = match (*function, lengths_ms.as_slice()) {
            ("TUMBLE", [size_ms, offset_ms]) => WindowKind::Tumble {
                size_ms: *size_ms,
                offset_ms: *offset_ms,
            },
            ("HOP", [slide_ms, size_ms, offset_ms]) => WindowKind::Hop {
                size_ms: *size_ms,
                slide_ms: *slide_ms,
                offset_ms: *offset_ms,
            },
            ("CUMULATE", [step_ms, size_ms, offset_ms]) => {
                if size_ms % step_ms != 0 {
                    let message = "the size of a CUMULATE window must be a multiple of its step";
                    return Err(self.invalid_clause(message, span));
                }
                WindowKind::Cumulate {
                    max_size_ms: *size_ms,
                    step_ms: *step_ms,
                    offset_ms: *offset_ms,
                }
            }
            _ => unreachable!("the list of functions gives each its lengths"),
        };
        let mut fields = input.fields();
        let is_instant = matches!(
            fields[column].data_type.logical,
            LogicalType::TimestampLtz(_)
        );
        let time = if is_instant {
            DataTypes::timestamp_ltz(3)
        } else {
            DataTypes::timestamp(3)
        };
        fields.push(Field::new(
            "window_start",
            DataTypes::timestamp(3).not_null(),
        ));
        fields.push(Field::new("window_end", DataTypes::timestamp(3).not_null()));
        fields.push(Field::new("window_time", time.not_null()));
        let operation = QueryOperation::Window(WindowQuery {
            window,
            column,
            fields: fields.clone(),
            input: Arc::new(input),
        });
        self.aliased(operation, fields, Vec::new(), alias)
    }

    /// The arguments in the order of `names`; they are all named or none is.
    fn arguments_by_name<'e>(
        &self,
        function: &str,
        names: &[&str],
        args: &'e [FunctionArg],
        span: Span,
    ) -> Result<Vec<Option<&'e Expr>>> {
        let mut found: Vec<Option<&Expr>> = vec![None; names.len()];
        for (position, arg) in args.iter().enumerate() {
            let (index, expr) = match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => (Some(position), expr),
                FunctionArg::Named {
                    name,
                    arg: FunctionArgExpr::Expr(expr),
                    ..
                } => {
                    let upper = name.value.to_ascii_uppercase();
                    (names.iter().position(|n| *n == upper), expr)
                }
                _ => return Err(self.unsupported(format!("this argument of {function}"), span)),
            };
            match index.and_then(|i| found.get_mut(i)) {
                Some(place) if place.is_none() => *place = Some(expr),
                _ => {
                    let message = format!("{function} takes the arguments {}", names.join(", "));
                    return Err(self.invalid_clause(message, begin_of_expr(expr)));
                }
            }
        }
        Ok(found)
    }

    /// `TABLE t` or `TABLE (query)`.
    fn table_argument(&self, expr: &Expr) -> Result<QueryOperation> {
        let span = begin_of_expr(expr);
        match expr {
            Expr::Prefixed { value, .. } => match value.as_ref() {
                Expr::CompoundIdentifier(parts) => {
                    let names = parts.iter().map(|p| p.value.clone()).collect();
                    let place = parts.first().map_or(span, |p| p.span);
                    Ok(self.named_table(names, place)?.0)
                }
                Expr::Subquery(query) => self.query(query),
                _ => Err(self.invalid_clause("expected TABLE and the name of a table", span)),
            },
            Expr::Subquery(query) => self.query(query),
            _ => Err(self.invalid_clause("expected TABLE and the name of a table", span)),
        }
    }

    /// `DESCRIPTOR(column)`: the index of an event-time column.
    fn descriptor(&self, expr: &Expr, input: &QueryOperation) -> Result<usize> {
        let span = begin_of_expr(expr);
        let expected = || self.invalid_clause("expected DESCRIPTOR and the name of a column", span);
        let Expr::Function(Function {
            name,
            args: FunctionArguments::List(list),
            ..
        }) = expr
        else {
            return Err(expected());
        };
        let is_descriptor = self
            .name_parts(name, span)?
            .join(".")
            .eq_ignore_ascii_case("DESCRIPTOR");
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(column)))] =
            list.args.as_slice()
        else {
            return Err(expected());
        };
        if !is_descriptor {
            return Err(expected());
        }
        let scope = Scope::of(Vec::new(), &input.fields());
        let (value, _) = scope
            .find(std::slice::from_ref(&column.value))
            .map_err(|e| self.invalid(e, column.span))?;
        let index = value
            .as_input()
            .expect("a column of one relation is a reference");
        if !time_attributes(input).contains(&index) {
            let kind = ValidationErrorKind::InvalidClause {
                message: format!(
                    "column '{}' is no event-time attribute, so windows cannot be made of it",
                    column.value
                ),
                hint: Some("Declare WATERMARK FOR it in CREATE TABLE.".to_string()),
            };
            return Err(self.invalid(kind, column.span));
        }
        Ok(index)
    }

    /// An interval in milliseconds; only an offset may be zero or negative.
    fn length_ms(&self, what: &str, expr: &Expr, is_offset: bool) -> Result<i64> {
        let span = begin_of_expr(expr);
        let scope = Scope::default();
        let value = fold_constants(Resolver::new(self, &scope, "a window").expr(expr)?);
        match value.as_literal() {
            Some(Value::IntervalDayTime(length)) if *length > 0 || is_offset => Ok(*length),
            Some(Value::IntervalDayTime(_)) => {
                Err(self.invalid_clause(format!("the {what} of a window must be positive"), span))
            }
            _ => Err(self.mismatch(
                format!("the {what} of a window"),
                "INTERVAL DAY TO SECOND",
                value.data_type(),
                span,
            )),
        }
    }
}

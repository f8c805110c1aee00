//! Expressions of the Table API, and SQL text inside them.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::expression::Expr;
use aquifer_table_common::{Result, TableError, UnsupportedError};

use super::Analyser;
use super::expression::Resolver;
use super::scope::Scope;
use crate::parser::parse_expression;

impl Analyser<'_> {
    /// Resolves an expression of a program over the columns in reach.
    ///
    /// # Errors
    /// Unknown names, arguments that do not fit, SQL text that cannot be read.
    pub fn expression(&self, expression: &Expr, scope: &Scope) -> Result<ResolvedExpr> {
        match expression {
            Expr::Sql(text) => {
                let parsed = parse_expression(text)?;
                let mut analyser = self.nested();
                analyser.sql = text.as_str().into();
                Resolver::new(&analyser, scope, "an expression").expr(&parsed)
            }
            Expr::Column(name) => Ok(scope.find(std::slice::from_ref(name))?.0),
            Expr::Literal(literal) => Ok(match &literal.data_type {
                Some(data_type) => {
                    ResolvedExpr::typed_literal(literal.value.clone(), data_type.clone())
                }
                None => ResolvedExpr::literal(literal.value.clone()),
            }),
            Expr::Call {
                function,
                args,
                distinct: false,
            } => {
                let args = args
                    .iter()
                    .map(|a| self.expression(a, scope))
                    .collect::<Result<Vec<_>>>()?;
                Ok(ResolvedExpr::call(function, args)?)
            }
            Expr::Cast {
                expr,
                data_type,
                is_try,
            } => {
                let value = self.expression(expr, scope)?;
                let cast = if *is_try {
                    value.try_cast(data_type.clone())
                } else {
                    value.cast(data_type.clone())
                };
                Ok(cast?)
            }
            Expr::Alias { expr, .. } => self.expression(expr, scope),
            Expr::Star => Err(unsupported("'*' inside an expression")),
            Expr::Call { .. } => Err(unsupported("an aggregate here")),
        }
    }

    /// A copy for an inner text or an inner list of names.
    pub(super) fn nested(&self) -> Self {
        self.clone()
    }
}

fn unsupported(feature: &str) -> TableError {
    UnsupportedError::new(feature).at(None).into()
}

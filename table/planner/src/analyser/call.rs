//! Calls of functions: scalar ones by the registry, aggregates where the clause takes them.

use aquifer_functions::aggregate::{find_aggregate, resolve_aggregate};
use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::{Result, TableError, ValidationErrorKind};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
};
use sqlparser::tokenizer::Span;

use super::aggregate::PendingAggregate;
use super::expression::{Resolver, symbol};

/// Functions whose first argument may be a bare word.
const WORD_FIRST: &[&str] = &["TIMESTAMPADD", "TIMESTAMPDIFF"];

/// The arguments of a call as written.
struct Arguments<'f> {
    exprs: Vec<&'f Expr>,
    is_star: bool,
    is_distinct: bool,
}

impl Resolver<'_, '_> {
    pub(super) fn function(&mut self, function: &Function, span: Span) -> Result<ResolvedExpr> {
        let name = self.analyser.name_parts(&function.name, span)?.join(".");
        let upper = name.to_ascii_uppercase();
        if function.over.is_some() {
            return Err(self
                .analyser
                .unsupported(format!("{upper} with OVER"), span));
        }
        if !function.within_group.is_empty() || function.null_treatment.is_some() {
            return Err(self.analyser.unsupported(
                format!("{upper} with WITHIN GROUP or a NULL treatment"),
                span,
            ));
        }
        let arguments = self.arguments(function, &upper, span)?;
        if find_aggregate(&upper).is_ok() {
            return self.aggregate(&upper, &arguments, function.filter.as_deref(), span);
        }
        if arguments.is_star || arguments.is_distinct || function.filter.is_some() {
            let message = format!(
                "'*', DISTINCT and FILTER belong to aggregate functions, and {upper} is none"
            );
            return Err(self.analyser.invalid_clause(message, span));
        }
        let mut args = Vec::with_capacity(arguments.exprs.len());
        for (position, expr) in arguments.exprs.iter().enumerate() {
            match expr {
                Expr::Identifier(word) if position == 0 && WORD_FIRST.contains(&upper.as_str()) => {
                    args.push(symbol(&word.value.to_ascii_uppercase()));
                }
                _ => args.push(self.expr(expr)?),
            }
        }
        self.call(&upper, args, span)
    }

    fn arguments<'f>(
        &self,
        function: &'f Function,
        name: &str,
        span: Span,
    ) -> Result<Arguments<'f>> {
        let mut arguments = Arguments {
            exprs: Vec::new(),
            is_star: false,
            is_distinct: false,
        };
        let list = match &function.args {
            FunctionArguments::None => return Ok(arguments),
            FunctionArguments::List(list) => list,
            FunctionArguments::Subquery(_) => {
                return Err(self
                    .analyser
                    .unsupported(format!("a sub-query as argument of {name}"), span));
            }
        };
        if !list.clauses.is_empty() || !matches!(function.parameters, FunctionArguments::None) {
            return Err(self
                .analyser
                .unsupported(format!("these clauses inside {name}(..)"), span));
        }
        arguments.is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        for arg in &list.args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => arguments.exprs.push(expr),
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => arguments.is_star = true,
                _ => {
                    return Err(self
                        .analyser
                        .unsupported(format!("named arguments of {name}"), span));
                }
            }
        }
        Ok(arguments)
    }

    /// Collects an aggregate and answers the column that will hold it.
    fn aggregate(
        &mut self,
        name: &str,
        arguments: &Arguments<'_>,
        filter: Option<&Expr>,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let misplaced = |clause| {
            let kind = ValidationErrorKind::MisplacedAggregate {
                function: name.to_string(),
                clause,
            };
            Err(self.analyser.invalid(kind, span))
        };
        if self.aggregates.is_none() {
            return misplaced(self.clause);
        }
        if arguments.is_star
            && (name != "COUNT" || !arguments.exprs.is_empty() || arguments.is_distinct)
        {
            return Err(self.analyser.invalid_clause(
                format!("'*' may only stand in COUNT(*), not in {name}"),
                span,
            ));
        }
        // Inside an aggregate no other one may stand.
        let outer = self.aggregates.take();
        let clause = std::mem::replace(&mut self.clause, "another aggregate function");
        let inner = self.aggregate_parts(arguments, filter);
        self.aggregates = outer;
        self.clause = clause;
        let (args, filter) = inner?;

        let types: Vec<_> = args.iter().map(|a| a.data_type().clone()).collect();
        let (definition, inferred) = resolve_aggregate(name, &types)
            .map_err(|e| TableError::from(e).at(self.analyser.place(span)))?;
        let args = args
            .into_iter()
            .zip(&inferred.arguments)
            .map(|(arg, to)| {
                if arg.data_type().logical == to.logical {
                    Ok(arg)
                } else {
                    self.cast(arg, to.clone(), span)
                }
            })
            .collect::<Result<Vec<_>>>()?;
        // A group has rows, but a filter may drop all of them, and all rows together may be none.
        let may_be_empty = !self.has_groups || filter.is_some();
        let result = match inferred.result {
            result if may_be_empty && definition.is_null_when_empty() => result.null(),
            result => result,
        };
        let pending = PendingAggregate {
            function: definition.name().to_string(),
            arguments: args,
            distinct: arguments.is_distinct,
            filter,
            data_type: result,
        };
        let width = self.scope.width();
        let aggregates = self.aggregates.get_or_insert_with(Vec::new);
        let index = match aggregates.iter().position(|a| *a == pending) {
            Some(index) => index,
            None => {
                aggregates.push(pending);
                aggregates.len() - 1
            }
        };
        Ok(ResolvedExpr::input(
            width + index,
            aggregates[index].data_type.clone(),
        ))
    }

    fn aggregate_parts(
        &mut self,
        arguments: &Arguments<'_>,
        filter: Option<&Expr>,
    ) -> Result<(Vec<ResolvedExpr>, Option<ResolvedExpr>)> {
        let args = arguments
            .exprs
            .iter()
            .map(|e| self.expr(e))
            .collect::<Result<Vec<_>>>()?;
        let filter = filter.map(|e| self.condition(e)).transpose()?;
        Ok((args, filter))
    }
}

//! One SELECT: FROM, WHERE, GROUP BY, HAVING, the list of columns, DISTINCT.

use std::collections::HashSet;
use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{DistinctQuery, FilterQuery, ProjectQuery, QueryOperation};
use aquifer_types::Field;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind,
    Spanned, WildcardAdditionalOptions,
};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::aggregate::Grouped;
use super::begin::begin_of_expr;
use super::expression::Resolver;

impl Analyser<'_> {
    /// One SELECT.
    pub(super) fn select(&self, select: &Select) -> Result<QueryOperation> {
        self.refuse_foreign_clauses(select)?;
        let (mut input, scope) = self.from(&select.from)?;
        if let Some(condition) = &select.selection {
            input = self.filter(input, &scope, condition)?;
        }
        let grouping = self.grouping(select, &scope)?;

        let mut resolver = Resolver::with_aggregates(self, &scope, grouping.is_some());
        let mut columns = Vec::new();
        for item in &select.projection {
            self.select_item(item, &mut resolver, &mut columns)?;
        }
        let having = match &select.having {
            Some(expr) => {
                resolver.clause = "HAVING";
                Some(resolver.condition(expr)?)
            }
            None => None,
        };
        let aggregates = resolver.aggregates.take().unwrap_or_default();
        let places = resolver.places;

        let mut input = Arc::new(input);
        if !aggregates.is_empty() || grouping.is_some() || having.is_some() {
            let grouped = Grouped::new(input, &scope, grouping.unwrap_or_default(), &aggregates);
            for column in &mut columns {
                column.value = grouped.rewrite(self, &scope, &places, &column.value)?;
            }
            let having = having
                .map(|h| grouped.rewrite(self, &scope, &places, &h))
                .transpose()?;
            input = Arc::new(grouped.operation);
            if let Some(condition) = having {
                input = Arc::new(QueryOperation::Filter(FilterQuery { condition, input }));
            }
        }
        let names = unique_names(columns.iter().map(|c| c.name.clone()));
        let fields = columns
            .iter()
            .zip(names)
            .map(|(column, name)| Field::new(name, column.value.data_type().clone()))
            .collect();
        let expressions = columns.into_iter().map(|c| c.value).collect();
        let projected = QueryOperation::Project(ProjectQuery {
            expressions,
            fields,
            input,
        });
        match &select.distinct {
            Some(Distinct::Distinct) => Ok(QueryOperation::Distinct(DistinctQuery {
                input: Arc::new(projected),
            })),
            Some(Distinct::On(_)) => {
                Err(self.unsupported("DISTINCT ON", select.select_token.0.span))
            }
            Some(Distinct::All) | None => Ok(projected),
        }
    }

    /// The grouping expressions; none without GROUP BY.
    fn grouping(&self, select: &Select, scope: &super::Scope) -> Result<Option<Vec<ResolvedExpr>>> {
        let GroupByExpr::Expressions(exprs, modifiers) = &select.group_by else {
            return Err(self.unsupported("GROUP BY ALL", select.select_token.0.span));
        };
        if !modifiers.is_empty() {
            return Err(self.unsupported("GROUP BY .. WITH", select.select_token.0.span));
        }
        if exprs.is_empty() {
            return Ok(None);
        }
        let mut resolver = Resolver::new(self, scope, "GROUP BY");
        let grouping = exprs
            .iter()
            .map(|e| resolver.expr(e))
            .collect::<Result<Vec<_>>>()?;
        Ok(Some(grouping))
    }

    fn select_item(
        &self,
        item: &SelectItem,
        resolver: &mut Resolver<'_, '_>,
        columns: &mut Vec<OutputColumn>,
    ) -> Result<()> {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let value = resolver.expr(expr)?;
                let name = column_name(expr).unwrap_or_else(|| format!("EXPR${}", columns.len()));
                columns.push(OutputColumn { name, value });
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let value = resolver.expr(expr)?;
                columns.push(OutputColumn {
                    name: alias.value.clone(),
                    value,
                });
            }
            SelectItem::Wildcard(options) => {
                self.refuse_wildcard_options(options)?;
                let star = resolver.scope.star();
                if star.is_empty() {
                    return Err(self.invalid_clause(
                        "'*' needs a table in FROM",
                        options.wildcard_token.0.span,
                    ));
                }
                self.add_star(star, options.wildcard_token.0.span, resolver, columns);
            }
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) => {
                self.refuse_wildcard_options(options)?;
                let span = name.span();
                let qualifier = self.name_parts(name, span)?;
                let star = resolver
                    .scope
                    .qualified_star(&qualifier)
                    .map_err(|e| self.invalid(e, span))?;
                self.add_star(star, span, resolver, columns);
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                return Err(self.unsupported("'.*' of an expression", begin_of_expr(expr)));
            }
            SelectItem::ExprWithAliases { expr, .. } => {
                return Err(
                    self.unsupported("several aliases of one expression", begin_of_expr(expr))
                );
            }
        }
        Ok(())
    }

    fn add_star(
        &self,
        star: Vec<super::scope::StarColumn>,
        span: Span,
        resolver: &mut Resolver<'_, '_>,
        columns: &mut Vec<OutputColumn>,
    ) {
        for column in star {
            if let Some(index) = column.value.as_input() {
                resolver.places.entry(index).or_insert(span);
            }
            columns.push(OutputColumn {
                name: column.name,
                value: column.value,
            });
        }
    }

    fn refuse_wildcard_options(&self, options: &WildcardAdditionalOptions) -> Result<()> {
        let is_plain = options.opt_ilike.is_none()
            && options.opt_exclude.is_none()
            && options.opt_except.is_none()
            && options.opt_replace.is_none()
            && options.opt_rename.is_none()
            && options.opt_alias.is_none();
        if is_plain {
            Ok(())
        } else {
            Err(self.unsupported("'*' with a clause behind it", options.wildcard_token.0.span))
        }
    }

    /// Refuses clauses of other dialects, so that none is silently ignored.
    fn refuse_foreign_clauses(&self, select: &Select) -> Result<()> {
        let span = select.select_token.0.span;
        let foreign = [
            (select.top.is_some(), "TOP"),
            (select.into.is_some(), "SELECT INTO"),
            (select.exclude.is_some(), "EXCLUDE"),
            (!select.lateral_views.is_empty(), "LATERAL VIEW"),
            (select.prewhere.is_some(), "PREWHERE"),
            (!select.connect_by.is_empty(), "CONNECT BY"),
            (!select.cluster_by.is_empty(), "CLUSTER BY"),
            (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
            (!select.sort_by.is_empty(), "SORT BY"),
            (!select.named_window.is_empty(), "WINDOW"),
            (select.qualify.is_some(), "QUALIFY"),
            (select.value_table_mode.is_some(), "SELECT AS VALUE"),
            (select.select_modifiers.is_some(), "this form of SELECT"),
            (!select.optimizer_hints.is_empty(), "an optimizer hint"),
            (
                select.flavor != SelectFlavor::Standard,
                "FROM in front of SELECT",
            ),
        ];
        match foreign.iter().find(|(is_there, _)| *is_there) {
            Some((_, clause)) => Err(self.unsupported(*clause, span)),
            None => Ok(()),
        }
    }
}

/// A column of the list.
struct OutputColumn {
    name: String,
    value: ResolvedExpr,
}

/// The name that a column has by itself.
fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(ident.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|p| p.value.clone()),
        Expr::Nested(inner) => column_name(inner),
        _ => None,
    }
}

/// Makes names unique as the reference does: a name that occurs again gets the first number from 0
/// that is free.
pub(super) fn unique_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: Vec<String> = names.collect();
    let mut used: HashSet<String> = HashSet::new();
    let written: HashSet<String> = names.iter().cloned().collect();
    names
        .into_iter()
        .map(|name| {
            if used.insert(name.clone()) {
                return name;
            }
            let fresh = (0usize..)
                .map(|n| format!("{name}{n}"))
                .find(|candidate| !used.contains(candidate) && !written.contains(candidate))
                .expect("numbers do not end");
            used.insert(fresh.clone());
            fresh
        })
        .collect()
}

//! Where a piece of syntax begins.
//!
//! `sqlparser` can tell the span of any piece, but walks all of it, by recursion. Errors need the
//! begin alone, and chains of operators are longer than a stack is deep, so the left edge of the
//! tree is walked by a loop.

use sqlparser::ast::{Expr, Query, SetExpr, Spanned, TableFactor};
use sqlparser::tokenizer::Span;

/// The span of the leftmost part of an expression.
pub(super) fn begin_of_expr(expr: &Expr) -> Span {
    let mut rest = expr;
    loop {
        rest = match rest {
            Expr::BinaryOp { left, .. } | Expr::AnyOp { left, .. } | Expr::AllOp { left, .. } => {
                left
            }
            Expr::IsNull(e)
            | Expr::IsNotNull(e)
            | Expr::IsTrue(e)
            | Expr::IsNotTrue(e)
            | Expr::IsFalse(e)
            | Expr::IsNotFalse(e)
            | Expr::IsUnknown(e)
            | Expr::IsNotUnknown(e)
            | Expr::IsDistinctFrom(e, _)
            | Expr::IsNotDistinctFrom(e, _)
            | Expr::Nested(e)
            | Expr::UnaryOp { expr: e, .. }
            | Expr::Cast { expr: e, .. }
            | Expr::Extract { expr: e, .. }
            | Expr::Floor { expr: e, .. }
            | Expr::Ceil { expr: e, .. }
            | Expr::Position { expr: e, .. }
            | Expr::Substring { expr: e, .. }
            | Expr::Trim { expr: e, .. }
            | Expr::Overlay { expr: e, .. }
            | Expr::Between { expr: e, .. }
            | Expr::In { expr: e, .. }
            | Expr::Like { expr: e, .. }
            | Expr::SimilarTo { expr: e, .. }
            | Expr::CompoundFieldAccess { root: e, .. } => e,
            Expr::Interval(interval) => &interval.value,
            Expr::Tuple(values) => match values.first() {
                Some(first) => first,
                None => return Span::empty(),
            },
            Expr::Array(array) => match array.elem.first() {
                Some(first) => first,
                None => return Span::empty(),
            },
            Expr::Case { case_token, .. } => return case_token.0.span,
            Expr::Function(function) => return function.name.span(),
            Expr::Subquery(query)
            | Expr::Exists {
                subquery: query, ..
            } => return begin_of_query(query),
            Expr::Prefixed { prefix, .. } => return prefix.span,
            Expr::Identifier(ident) => return ident.span,
            Expr::CompoundIdentifier(parts) => {
                return parts.first().map_or_else(Span::empty, |p| p.span);
            }
            Expr::Value(value) => return value.span,
            Expr::TypedString(typed) => return typed.value.span,
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                match sets.iter().flatten().next() {
                    Some(first) => first,
                    None => return Span::empty(),
                }
            }
            _ => return Span::empty(),
        };
    }
}

/// The span of the first word of a query that the parser kept.
pub(super) fn begin_of_query(query: &Query) -> Span {
    match &query.with {
        Some(with) => with.with_token.0.span,
        None => begin_of_body(&query.body),
    }
}

/// The span of the first word of a query's body that the parser kept.
pub(super) fn begin_of_body(body: &SetExpr) -> Span {
    let mut rest = body;
    loop {
        rest = match rest {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => match &query.with {
                Some(with) => return with.with_token.0.span,
                None => &query.body,
            },
            SetExpr::Select(select) => return select.select_token.0.span,
            SetExpr::Values(values) => {
                let first = values.rows.first().and_then(|row| row.content.first());
                return first.map_or_else(Span::empty, begin_of_expr);
            }
            _ => return Span::empty(),
        };
    }
}

/// The span of the first word of a table in FROM that the parser kept.
pub(super) fn begin_of_factor(factor: &TableFactor) -> Span {
    let mut rest = factor;
    loop {
        rest = match rest {
            TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => {
                return name.span();
            }
            TableFactor::Derived { subquery, .. } => return begin_of_query(subquery),
            TableFactor::TableFunction { expr, .. } => return begin_of_expr(expr),
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => &table_with_joins.relation,
            TableFactor::Pivot { table, .. }
            | TableFactor::Unpivot { table, .. }
            | TableFactor::MatchRecognize { table, .. } => table,
            _ => return Span::empty(),
        };
    }
}

//! A query: WITH, the body, ORDER BY and LIMIT.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer_table_common::operation::QueryOperation;
use aquifer_table_common::{Result, ValidationErrorKind};
use sqlparser::ast::{Ident, Query, SetExpr};

use super::Analyser;
use super::begin::{begin_of_body, begin_of_query};

impl Analyser<'_> {
    /// A query. Grows the stack as needed, because queries nest as users like.
    pub(super) fn query(&self, query: &Query) -> Result<QueryOperation> {
        stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || self.query_inner(query))
    }

    fn query_inner(&self, query: &Query) -> Result<QueryOperation> {
        let span = begin_of_query(query);
        if query.order_by.is_some() {
            return Err(self.unsupported("ORDER BY on a stream", span));
        }
        if query.limit_clause.is_some() || query.fetch.is_some() {
            return Err(self.unsupported("LIMIT, OFFSET and FETCH on a stream", span));
        }
        if !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return Err(self.unsupported("a clause behind the query", span));
        }
        let Some(with) = &query.with else {
            return self.body(&query.body);
        };
        if with.recursive {
            return Err(self.unsupported("WITH RECURSIVE", with.with_token.0.span));
        }
        let mut inner = self.nested();
        inner.with.push(HashMap::new());
        for cte in &with.cte_tables {
            let name = &cte.alias.name;
            let mut operation = inner.query(&cte.query)?;
            if !cte.alias.columns.is_empty() {
                let columns: Vec<&Ident> = cte.alias.columns.iter().map(|c| &c.name).collect();
                let mut fields = operation.fields();
                self.rename(
                    &mut fields,
                    &columns,
                    &format!("table '{}'", name.value),
                    name.span,
                )?;
                operation = Analyser::renamed(operation, fields);
            }
            let names = inner.with.last_mut().expect("pushed above");
            if names
                .insert(name.value.clone(), Arc::new(operation))
                .is_some()
            {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "table",
                    name: name.value.clone(),
                };
                return Err(self.invalid(kind, name.span));
            }
        }
        inner.body(&query.body)
    }

    pub(super) fn body(&self, body: &SetExpr) -> Result<QueryOperation> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { .. } => self.set_operation(body),
            SetExpr::Values(values) => self.values(values),
            SetExpr::Table(_) => Err(self.unsupported("TABLE t as a query", begin_of_body(body))),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(self.unsupported(
                    "a statement that changes data inside a query",
                    begin_of_body(body),
                ))
            }
        }
    }
}

//! FROM: tables, sub-queries, VALUES and joins of them.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{JoinType, QueryOperation, ValuesQuery};
use aquifer_table_common::{Result, UnresolvedIdentifier, ValidationErrorKind};
use aquifer_types::Field;
use sqlparser::ast::{
    Expr, FunctionArguments, Ident, JoinConstraint, JoinOperator, TableAlias, TableFactor,
    TableWithJoins,
};

use super::Analyser;
use super::begin::begin_of_factor;
use super::scope::Scope;

/// An operation and the names of its columns.
pub(super) type Input = (QueryOperation, Scope);

impl Analyser<'_> {
    /// The FROM clause; without one there is a single row without columns.
    pub(super) fn from(&self, from: &[TableWithJoins]) -> Result<Input> {
        let Some((first, rest)) = from.split_first() else {
            let values = ValuesQuery {
                rows: vec![Vec::new()],
                fields: Vec::new(),
            };
            return Ok((QueryOperation::Values(values), Scope::default()));
        };
        let mut input = self.table_with_joins(first)?;
        for table in rest {
            let right = self.table_with_joins(table)?;
            self.check_aliases(&input.1, &right.1, begin_of_factor(&table.relation))?;
            input = self.join(
                input,
                right,
                JoinType::Inner,
                &JoinConstraint::None,
                begin_of_factor(&table.relation),
            )?;
        }
        Ok(input)
    }

    fn table_with_joins(&self, table: &TableWithJoins) -> Result<Input> {
        let mut input = self.table_factor(&table.relation)?;
        for join in &table.joins {
            let span = begin_of_factor(&join.relation);
            let (join_type, constraint) = match &join.join_operator {
                JoinOperator::Join(c) | JoinOperator::Inner(c) => (JoinType::Inner, c),
                JoinOperator::Left(c) | JoinOperator::LeftOuter(c) => (JoinType::Left, c),
                JoinOperator::Right(c) | JoinOperator::RightOuter(c) => (JoinType::Right, c),
                JoinOperator::FullOuter(c) => (JoinType::Full, c),
                JoinOperator::CrossJoin(c) => (JoinType::Inner, c),
                _ => return Err(self.unsupported("this kind of join", span)),
            };
            let is_cross = matches!(join.join_operator, JoinOperator::CrossJoin(_));
            if is_cross != matches!(constraint, JoinConstraint::None) {
                let message = if is_cross {
                    "CROSS JOIN takes no condition"
                } else {
                    "this join needs ON or USING"
                };
                return Err(self.invalid_clause(message, span));
            }
            let right = self.table_factor(&join.relation)?;
            self.check_aliases(&input.1, &right.1, span)?;
            input = self.join(input, right, join_type, constraint, span)?;
        }
        Ok(input)
    }

    /// Two tables of one FROM need different names.
    fn check_aliases(
        &self,
        left: &Scope,
        right: &Scope,
        span: sqlparser::tokenizer::Span,
    ) -> Result<()> {
        for relation in right.relations() {
            let name = relation.path.last();
            if name.is_some() && left.relations().iter().any(|r| r.path == relation.path) {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "table name",
                    name: name.cloned().unwrap_or_default(),
                };
                return Err(self.invalid(kind, span));
            }
        }
        Ok(())
    }

    fn table_factor(&self, factor: &TableFactor) -> Result<Input> {
        let span = begin_of_factor(factor);
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_directives,
                inheritance,
            } => {
                if let Some(args) = args {
                    let name = self.name_parts(name, span)?.join(".");
                    return self.table_function(&name, &args.args, alias.as_ref(), span);
                }
                if version.is_some() {
                    return Err(self.unsupported("FOR SYSTEM_TIME AS OF", span));
                }
                if sample.is_some() {
                    return Err(self.unsupported("TABLESAMPLE", span));
                }
                if !with_hints.is_empty()
                    || *with_ordinality
                    || !partitions.is_empty()
                    || json_path.is_some()
                    || !index_directives.is_empty()
                    || inheritance.is_some()
                {
                    return Err(self.unsupported("a clause behind a table's name", span));
                }
                let parts = self.name_parts(name, span)?;
                let (operation, path) = self.named_table(parts, span)?;
                let fields = operation.fields();
                self.aliased(operation, fields, path, alias.as_ref())
            }
            TableFactor::Derived {
                lateral: false,
                subquery,
                alias,
                sample: None,
            } => {
                let operation = self.query(subquery)?;
                let fields = operation.fields();
                self.aliased(operation, fields, Vec::new(), alias.as_ref())
            }
            TableFactor::Derived { .. } => Err(self.unsupported("LATERAL with a sub-query", span)),
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => self.table_with_joins(table_with_joins),
            TableFactor::NestedJoin { .. } => {
                Err(self.unsupported("an alias of a join in brackets", span))
            }
            TableFactor::TableFunction {
                expr: Expr::Function(function),
                alias,
            } => {
                let FunctionArguments::List(list) = &function.args else {
                    return Err(self.unsupported("this table function", span));
                };
                let name = self.name_parts(&function.name, span)?.join(".");
                self.table_function(&name, &list.args, alias.as_ref(), span)
            }
            TableFactor::TableFunction { .. } | TableFactor::Function { .. } => {
                Err(self.unsupported("a table function in FROM", span))
            }
            TableFactor::UNNEST { .. } => Err(self.unsupported("UNNEST", span)),
            TableFactor::MatchRecognize { .. } => Err(self.unsupported("MATCH_RECOGNIZE", span)),
            TableFactor::Pivot { .. } => Err(self.unsupported("PIVOT", span)),
            _ => Err(self.unsupported("this table in FROM", span)),
        }
    }

    /// A table, view or common table expression by name; answers its full path too.
    pub(super) fn named_table(
        &self,
        parts: Vec<String>,
        span: sqlparser::tokenizer::Span,
    ) -> Result<(QueryOperation, Vec<String>)> {
        if let [name] = parts.as_slice()
            && let Some(found) = self.with.iter().rev().find_map(|names| names.get(name))
        {
            return Ok((found.as_ref().clone(), vec![name.clone()]));
        }
        let place = self.place(span);
        let path = UnresolvedIdentifier::of(parts).map_err(|e| e.at(place.clone()))?;
        let found = self
            .catalogs
            .resolve_in(&path, &self.catalog, &self.database)
            .map_err(|e| e.at(place.clone()))?;
        let id = found.identifier.clone();
        let operation = self.catalog_table(&found).map_err(|e| e.at(place))?;
        Ok((operation, vec![id.catalog, id.database, id.object]))
    }

    /// An input under its alias, with the alias' column names.
    pub(super) fn aliased(
        &self,
        operation: QueryOperation,
        mut fields: Vec<Field>,
        path: Vec<String>,
        alias: Option<&TableAlias>,
    ) -> Result<Input> {
        let Some(alias) = alias else {
            let scope = Scope::of(path, &fields);
            return Ok((operation, scope));
        };
        let columns: Vec<&Ident> = alias.columns.iter().map(|c| &c.name).collect();
        self.rename(
            &mut fields,
            &columns,
            &format!("alias '{}'", alias.name.value),
            alias.name.span,
        )?;
        let scope = Scope::of(vec![alias.name.value.clone()], &fields);
        Ok((operation, scope))
    }

    /// Gives columns new names; none keeps the old ones.
    pub(super) fn rename(
        &self,
        fields: &mut [Field],
        names: &[&Ident],
        what: &str,
        span: sqlparser::tokenizer::Span,
    ) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        if names.len() != fields.len() {
            let message = format!(
                "{what} names {} columns, but there are {}",
                names.len(),
                fields.len()
            );
            return Err(self.invalid_clause(message, span));
        }
        for (index, (field, name)) in fields.iter_mut().zip(names).enumerate() {
            if names[..index].iter().any(|n| n.value == name.value) {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "column",
                    name: name.value.clone(),
                };
                return Err(self.invalid(kind, name.span));
            }
            field.name.clone_from(&name.value);
        }
        Ok(())
    }

    /// An operation whose columns have these names.
    pub(super) fn renamed(operation: QueryOperation, fields: Vec<Field>) -> QueryOperation {
        let expressions = fields
            .iter()
            .enumerate()
            .map(|(i, f)| ResolvedExpr::input(i, f.data_type.clone()))
            .collect();
        QueryOperation::Project(aquifer_table_common::operation::ProjectQuery {
            expressions,
            fields,
            input: Arc::new(operation),
        })
    }
}

//! The operators of [`Table`]: queries written as calls.
//!
//! Names and types are checked at once. Aggregates and joins are written as SQL over the tables' names.

use std::sync::Arc;

use aquifer_functions::ResolvedExpr;
use aquifer_planner::analyser::Scope;
use aquifer_table_common::expression::Expr;
use aquifer_table_common::operation::{FilterQuery, ProjectQuery, QueryOperation};
use aquifer_table_common::{Result, SchemaErrorKind, ValidationErrorKind};
use aquifer_types::{Field, LogicalType};

use crate::field_list::FieldList;
use crate::table::Table;

/// Expressions: an array, a list, or (old) one text in which commas part them, such as `"a, b + 1 AS c"`.
pub trait ExprList {
    /// The expressions.
    fn into_exprs(self) -> Vec<Expr>;
}

impl<const N: usize> ExprList for [Expr; N] {
    fn into_exprs(self) -> Vec<Expr> {
        self.into()
    }
}

impl ExprList for Vec<Expr> {
    fn into_exprs(self) -> Vec<Expr> {
        self
    }
}

impl ExprList for &str {
    fn into_exprs(self) -> Vec<Expr> {
        split(self).into_iter().map(named).collect()
    }
}

/// The parts of a text between commas that stand outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = quote.filter(|_| c != open),
            (None, '\'' | '`' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// An expression in SQL, with the name it may give its result.
fn named(text: &str) -> Expr {
    let is_name =
        |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
    if text == "*" {
        return Expr::Star;
    }
    if is_name(text) && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Expr::Column(text.to_string());
    }
    let words: Vec<&str> = text.rsplitn(3, char::is_whitespace).collect();
    match words.as_slice() {
        [name, keyword, expr]
            if keyword.eq_ignore_ascii_case("as") && is_name(name.trim_matches('`')) =>
        {
            Expr::from(*expr).alias(name.trim_matches('`'))
        }
        _ => Expr::from(text),
    }
}

impl Table {
    /// Computes columns. `col("*")` stands for all columns.
    ///
    /// # Errors
    /// `validation.unknown_column`, `validation.duplicate_name`, `schema.*`; `unsupported.feature` for aggregates.
    pub fn select(&self, exprs: impl ExprList) -> Result<Table> {
        let fields = self.query_operation().fields();
        let scope = Scope::of(Vec::new(), &fields);
        let mut expressions = Vec::new();
        let mut columns: Vec<Field> = Vec::new();
        for expr in exprs.into_exprs() {
            if expr == Expr::Star {
                for (index, field) in fields.iter().enumerate() {
                    expressions.push(ResolvedExpr::input(index, field.data_type.clone()));
                    columns.push(field.clone());
                }
                continue;
            }
            let value = self
                .environment()
                .planner()
                .resolve_expression(&expr, &scope)?;
            let name = expr
                .output_name()
                .map_or_else(|| format!("_c{}", columns.len()), str::to_string);
            columns.push(Field::new(name, value.data_type().clone()));
            expressions.push(value);
        }
        unique(&columns)?;
        let input = Arc::clone(self.query_operation());
        Ok(self.with(QueryOperation::Project(ProjectQuery {
            expressions,
            fields: columns,
            input,
        })))
    }

    /// Keeps the rows for which the condition is true.
    ///
    /// # Errors
    /// `validation.unknown_column`, `schema.type_mismatch` for a condition that is not BOOLEAN.
    pub fn filter(&self, predicate: impl Into<Expr>) -> Result<Table> {
        let scope = Scope::of(Vec::new(), &self.query_operation().fields());
        let condition = self
            .environment()
            .planner()
            .resolve_expression(&predicate.into(), &scope)?;
        if condition.data_type().logical != LogicalType::Boolean {
            return Err(SchemaErrorKind::TypeMismatch {
                what: "the condition".to_string(),
                expected: "BOOLEAN".to_string(),
                found: condition.data_type().to_string(),
            }
            .into());
        }
        let input = Arc::clone(self.query_operation());
        Ok(self.with(QueryOperation::Filter(FilterQuery { condition, input })))
    }

    /// As [`filter`](Self::filter).
    ///
    /// # Errors
    /// See there.
    pub fn r#where(&self, predicate: impl Into<Expr>) -> Result<Table> {
        self.filter(predicate)
    }

    /// Renames the columns by position; columns without a new name keep theirs.
    ///
    /// # Errors
    /// `schema.column_count` for more names than columns, `validation.duplicate_name`.
    #[doc(alias = "as")]
    pub fn alias(&self, names: impl FieldList) -> Result<Table> {
        let mut fields = self.query_operation().fields();
        let names = names.into_names();
        if names.len() > fields.len() {
            return Err(SchemaErrorKind::ColumnCount {
                what: "the list of column names".to_string(),
                expected: fields.len(),
                found: names.len(),
            }
            .into());
        }
        for (field, name) in fields.iter_mut().zip(names) {
            field.name = name;
        }
        unique(&fields)?;
        let column =
            |(index, field): (usize, &Field)| ResolvedExpr::input(index, field.data_type.clone());
        let expressions = fields.iter().enumerate().map(column).collect();
        let input = Arc::clone(self.query_operation());
        Ok(self.with(QueryOperation::Project(ProjectQuery {
            expressions,
            fields,
            input,
        })))
    }

    fn with(&self, operation: QueryOperation) -> Table {
        self.environment().table(Arc::new(operation))
    }
}

fn unique(fields: &[Field]) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    match fields
        .iter()
        .find(|field| !seen.insert(field.name.as_str()))
    {
        Some(field) => Err(ValidationErrorKind::DuplicateName {
            what: "column",
            name: field.name.clone(),
        }
        .into()),
        None => Ok(()),
    }
}

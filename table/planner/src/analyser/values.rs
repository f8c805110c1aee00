//! VALUES.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{QueryOperation, ValuesQuery};
use aquifer_table_common::{Result, SchemaErrorKind, TableError};
use aquifer_types::{DataType, Field, find_common_type};
use sqlparser::ast::Values;
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::begin::begin_of_expr;
use super::expression::Resolver;
use super::scope::Scope;

impl Analyser<'_> {
    /// Rows written in the query; each column gets the common type of its values.
    pub(super) fn values(&self, values: &Values) -> Result<QueryOperation> {
        let scope = Scope::default();
        let mut resolver = Resolver::new(self, &scope, "VALUES");
        let mut rows: Vec<Vec<ResolvedExpr>> = Vec::with_capacity(values.rows.len());
        for row in &values.rows {
            let row = row
                .content
                .iter()
                .map(|e| resolver.expr(e))
                .collect::<Result<Vec<_>>>()?;
            rows.push(row);
        }
        let width = rows.first().map_or(0, Vec::len);
        for (row, syntax) in rows.iter().zip(&values.rows) {
            if row.len() != width {
                let kind = SchemaErrorKind::ColumnCount {
                    what: "a row of VALUES".to_string(),
                    expected: width,
                    found: row.len(),
                };
                let span = syntax
                    .content
                    .first()
                    .map_or_else(Span::empty, begin_of_expr);
                return Err(TableError::from(kind).at(self.place(span)));
            }
        }
        let first = values.rows.first().and_then(|r| r.content.first());
        let span = first.map_or_else(Span::empty, begin_of_expr);
        let mut fields = Vec::with_capacity(width);
        for column in 0..width {
            let types: Vec<DataType> = rows.iter().map(|r| r[column].data_type().clone()).collect();
            let data_type = find_common_type(&types).ok_or_else(|| {
                let mut names: Vec<String> = types.iter().map(ToString::to_string).collect();
                names.dedup();
                let kind = SchemaErrorKind::NoCommonType {
                    what: format!("the values of column {} of VALUES", column + 1),
                    types: names.join(", "),
                };
                TableError::from(kind).at(self.place(span))
            })?;
            for row in &mut rows {
                if row[column].data_type().logical != data_type.logical {
                    let value = row[column].clone();
                    let to = data_type.clone();
                    row[column] = value
                        .cast(to)
                        .map_err(|e| TableError::from(e).at(self.place(span)))?;
                }
            }
            fields.push(Field::new(format!("EXPR${column}"), data_type));
        }
        Ok(QueryOperation::Values(ValuesQuery { rows, fields }))
    }
}

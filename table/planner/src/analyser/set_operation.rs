//! UNION and UNION ALL.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{DistinctQuery, ProjectQuery, QueryOperation, SetQuery};
use aquifer_table_common::{Result, SchemaErrorKind, TableError};
use aquifer_types::{DataType, Field, find_common_type};
use sqlparser::ast::{SetExpr, SetOperator, SetQuantifier};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::begin::begin_of_body;

impl Analyser<'_> {
    /// A chain of set operations; the chain leans to the left and is walked without recursion.
    pub(super) fn set_operation(&self, body: &SetExpr) -> Result<QueryOperation> {
        let mut steps = Vec::new();
        let mut rest = body;
        while let SetExpr::SetOperation {
            left,
            op,
            set_quantifier,
            right,
        } = rest
        {
            steps.push((op, set_quantifier, right.as_ref()));
            rest = left;
        }
        let mut inputs = vec![self.body(rest)?];
        let span = begin_of_body(rest);
        for (op, quantifier, right) in steps.into_iter().rev() {
            let right_span = begin_of_body(right);
            if *op != SetOperator::Union {
                return Err(self.unsupported(format!("{op}"), right_span));
            }
            inputs.push(self.body(right)?);
            match quantifier {
                SetQuantifier::All => {}
                SetQuantifier::None | SetQuantifier::Distinct => {
                    let union = self.union_all(std::mem::take(&mut inputs), span)?;
                    inputs.push(QueryOperation::Distinct(DistinctQuery {
                        input: Arc::new(union),
                    }));
                }
                other => return Err(self.unsupported(format!("UNION {other}"), right_span)),
            }
        }
        self.union_all(inputs, span)
    }

    /// The rows of all inputs, brought to common types; names are those of the first.
    fn union_all(&self, mut inputs: Vec<QueryOperation>, span: Span) -> Result<QueryOperation> {
        if inputs.len() == 1 {
            return Ok(inputs.pop().expect("there is one"));
        }
        let all_fields: Vec<Vec<Field>> = inputs.iter().map(QueryOperation::fields).collect();
        let first = &all_fields[0];
        if let Some(other) = all_fields.iter().find(|f| f.len() != first.len()) {
            let kind = SchemaErrorKind::ColumnCount {
                what: "UNION".to_string(),
                expected: first.len(),
                found: other.len(),
            };
            return Err(TableError::from(kind).at(self.place(span)));
        }
        let mut fields = Vec::with_capacity(first.len());
        for (column, field) in first.iter().enumerate() {
            let types: Vec<DataType> = all_fields
                .iter()
                .map(|f| f[column].data_type.clone())
                .collect();
            let data_type = find_common_type(&types).ok_or_else(|| {
                let kind = SchemaErrorKind::NoCommonType {
                    what: format!("the columns '{}' of UNION", field.name),
                    types: types
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(", "),
                };
                TableError::from(kind).at(self.place(span))
            })?;
            fields.push(Field::new(field.name.clone(), data_type));
        }
        let inputs = inputs
            .into_iter()
            .map(|input| self.converted(input, &fields, span).map(Arc::new))
            .collect::<Result<Vec<_>>>()?;
        Ok(QueryOperation::Set(SetQuery { inputs, fields }))
    }

    /// An operation whose columns have these names and these kinds of types, by casts where needed.
    pub(super) fn converted(
        &self,
        operation: QueryOperation,
        to: &[Field],
        span: Span,
    ) -> Result<QueryOperation> {
        let from = operation.fields();
        if from
            .iter()
            .zip(to)
            .all(|(a, b)| a.data_type.logical == b.data_type.logical)
        {
            return Ok(operation);
        }
        let mut expressions = Vec::with_capacity(to.len());
        let mut fields = Vec::with_capacity(to.len());
        for (index, (from, to)) in from.iter().zip(to).enumerate() {
            let mut value = ResolvedExpr::input(index, from.data_type.clone());
            if from.data_type.logical != to.data_type.logical {
                value = value
                    .cast(to.data_type.clone())
                    .map_err(|e| TableError::from(e).at(self.place(span)))?;
            }
            fields.push(Field::new(to.name.clone(), value.data_type().clone()));
            expressions.push(value);
        }
        Ok(QueryOperation::Project(ProjectQuery {
            expressions,
            fields,
            input: Arc::new(operation),
        }))
    }
}

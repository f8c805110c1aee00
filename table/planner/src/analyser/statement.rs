//! Statements to operations.

use std::sync::Arc;

use aquifer_table_common::operation::{
    DropOperation, ExplainDetail, ExplainOperation, Operation, QueryOperation, ShowOperation,
    UseOperation,
};
use aquifer_table_common::{Result, UnresolvedIdentifier, ValidationErrorKind};

use super::Analyser;
use crate::parser::{DropKind, ParsedStatement, Show, Statement, parse_statements};

impl Analyser<'_> {
    /// What a statement means.
    ///
    /// # Errors
    /// Unknown names, types that do not fit, constructs that are not offered; with their place.
    pub fn statement(&self, statement: &ParsedStatement) -> Result<Operation> {
        let mut analyser = self.clone();
        analyser.sql = statement.sql.clone();
        analyser.operation(&statement.statement)
    }

    fn operation(&self, statement: &Statement) -> Result<Operation> {
        Ok(match statement {
            Statement::Query(query) => Operation::Query(Arc::new(self.query(query)?)),
            Statement::Insert(insert) => Operation::Modify(self.insert(insert)?),
            Statement::StatementSet(inserts) => Operation::StatementSet(
                inserts
                    .iter()
                    .map(|i| self.insert(i))
                    .collect::<Result<_>>()?,
            ),
            Statement::BeginStatementSet => Operation::BeginStatementSet,
            Statement::EndStatementSet => Operation::EndStatementSet,
            Statement::CreateTable(table) => Operation::Create(self.create_table(table)?),
            Statement::CreateView(view) => Operation::Create(self.create_view(view)?),
            Statement::Drop(drop) => Operation::Drop(DropOperation {
                identifier: self.qualify(drop.name.names(), self.location(drop.name.location))?,
                is_view: drop.kind == DropKind::View,
                is_temporary: drop.is_temporary,
                if_exists: drop.if_exists,
            }),
            Statement::Explain(explain) => {
                let operation = self.operation(&explain.statement)?;
                let operations = match operation {
                    Operation::StatementSet(inserts) => {
                        inserts.into_iter().map(Operation::Modify).collect()
                    }
                    other => vec![other],
                };
                let details = explain
                    .details
                    .iter()
                    .filter_map(|d| ExplainDetail::from_word(&d.value))
                    .collect();
                Operation::Explain(ExplainOperation {
                    operations,
                    details,
                })
            }
            Statement::Show(show) => Operation::Show(match show {
                Show::Catalogs => ShowOperation::Catalogs,
                Show::Databases => ShowOperation::Databases,
                Show::Tables => ShowOperation::Tables,
                Show::Views => ShowOperation::Views,
                Show::Functions => ShowOperation::Functions,
                Show::CurrentCatalog => ShowOperation::CurrentCatalog,
                Show::CurrentDatabase => ShowOperation::CurrentDatabase,
            }),
            Statement::Describe(path) => {
                let place = self.location(path.location);
                let name =
                    UnresolvedIdentifier::of(path.names()).map_err(|e| e.at(place.clone()))?;
                let found = self.catalogs.resolve(&name).map_err(|e| e.at(place))?;
                Operation::Describe {
                    identifier: found.identifier,
                }
            }
            Statement::Set(pair) => Operation::Set(pair.clone()),
            Statement::Reset(key) => Operation::Reset(key.clone()),
            Statement::UseCatalog(name) => {
                Operation::Use(UseOperation::Catalog(name.value.clone()))
            }
            Statement::UseDatabase(path) => match path.names().as_slice() {
                [database] => Operation::Use(UseOperation::Database {
                    catalog: None,
                    database: database.clone(),
                }),
                [catalog, database] => Operation::Use(UseOperation::Database {
                    catalog: Some(catalog.clone()),
                    database: database.clone(),
                }),
                names => {
                    let kind = ValidationErrorKind::InvalidIdentifier {
                        identifier: names.join("."),
                        reason: "a database has one or two parts".to_string(),
                    };
                    return Err(aquifer_table_common::TableError::from(kind)
                        .at(self.location(path.location)));
                }
            },
        })
    }

    /// The analyser's text as one query.
    pub(super) fn query_text(&self) -> Result<QueryOperation> {
        let mut statements = parse_statements(&self.sql)?;
        match (statements.len(), statements.pop().map(|s| s.statement)) {
            (1, Some(Statement::Query(query))) => self.query(&query),
            (_, statement) => Err(ValidationErrorKind::WrongStatement {
                expected: "one query".to_string(),
                found: statement.map_or("an empty text", |s| s.name()).to_string(),
            }
            .into()),
        }
    }
}

//! One analysed statement.

use std::sync::Arc;

use super::{ModifyOperation, QueryOperation};
use crate::catalog::{CatalogTable, CatalogView};
use crate::identifier::ObjectIdentifier;

/// One analysed statement.
#[derive(Debug, Clone)]
pub enum Operation {
    /// A query.
    Query(Arc<QueryOperation>),
    /// A query with a target.
    Modify(ModifyOperation),
    /// Several inserts as one job.
    StatementSet(Vec<ModifyOperation>),
    /// `BEGIN STATEMENT SET`.
    BeginStatementSet,
    /// `END`.
    EndStatementSet,
    /// `CREATE ..`.
    Create(CreateOperation),
    /// `DROP ..`.
    Drop(DropOperation),
    /// `EXPLAIN ..`.
    Explain(ExplainOperation),
    /// `SHOW ..`.
    Show(ShowOperation),
    /// `DESCRIBE t`.
    Describe {
        /// The table or view.
        identifier: ObjectIdentifier,
    },
    /// `SET`: shows all options without a key and value.
    Set(Option<(String, String)>),
    /// `RESET`: all options without a key.
    Reset(Option<String>),
    /// `USE ..`.
    Use(UseOperation),
}

/// See [`Operation::Create`].
#[derive(Debug, Clone)]
pub enum CreateOperation {
    /// `CREATE TABLE`.
    Table {
        /// Its path.
        identifier: ObjectIdentifier,
        /// Its definition, checked.
        table: CatalogTable,
        /// `TEMPORARY`.
        is_temporary: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
    },
    /// `CREATE VIEW`.
    View {
        /// Its path.
        identifier: ObjectIdentifier,
        /// Its definition, checked.
        view: CatalogView,
        /// `TEMPORARY`.
        is_temporary: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
    },
}

/// See [`Operation::Drop`].
#[derive(Debug, Clone)]
pub struct DropOperation {
    /// Its path.
    pub identifier: ObjectIdentifier,
    /// A view instead of a table.
    pub is_view: bool,
    /// `TEMPORARY`.
    pub is_temporary: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
}

/// See [`Operation::Explain`].
#[derive(Debug, Clone)]
pub struct ExplainOperation {
    /// What is explained: a query or inserts.
    pub operations: Vec<Operation>,
    /// What is shown beside the plans.
    pub details: Vec<ExplainDetail>,
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExplainFormat {
    /// As indented text.
    #[default]
    Text,
    /// The execution plan as JSON.
    Json,
}

/// What a plan shows beside the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainDetail {
    /// Estimated cost; nothing is estimated yet, so it adds nothing.
    EstimatedCost,
    /// The kinds of changes that each node produces.
    ChangelogMode,
    /// Advice; there is none yet.
    PlanAdvice,
    /// The execution plan as JSON.
    JsonExecutionPlan,
}

impl ExplainDetail {
    /// The detail of its SQL word.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word.to_ascii_uppercase().as_str() {
            "ESTIMATED_COST" => ExplainDetail::EstimatedCost,
            "CHANGELOG_MODE" => ExplainDetail::ChangelogMode,
            "PLAN_ADVICE" => ExplainDetail::PlanAdvice,
            "JSON_EXECUTION_PLAN" => ExplainDetail::JsonExecutionPlan,
            _ => return None,
        })
    }
}

/// See [`Operation::Show`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowOperation {
    /// `SHOW CATALOGS`.
    Catalogs,
    /// `SHOW DATABASES`.
    Databases,
    /// `SHOW TABLES`.
    Tables,
    /// `SHOW VIEWS`.
    Views,
    /// `SHOW FUNCTIONS`.
    Functions,
    /// `SHOW CURRENT CATALOG`.
    CurrentCatalog,
    /// `SHOW CURRENT DATABASE`.
    CurrentDatabase,
}

/// See [`Operation::Use`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UseOperation {
    /// `USE CATALOG c`.
    Catalog(String),
    /// `USE d`, `USE c.d`.
    Database {
        /// The catalog; none is the current one.
        catalog: Option<String>,
        /// The database.
        database: String,
    },
}

impl Operation {
    /// The statement in a few words, for messages.
    pub fn summary(&self) -> String {
        match self {
            Operation::Query(_) => "a query".to_string(),
            Operation::Modify(ModifyOperation::Sink { table, .. }) => {
                format!("INSERT INTO {}", table.table.identifier)
            }
            Operation::Modify(_) => "a query with a target".to_string(),
            Operation::StatementSet(inserts) => {
                format!("a statement set of {} inserts", inserts.len())
            }
            Operation::BeginStatementSet => "BEGIN STATEMENT SET".to_string(),
            Operation::EndStatementSet => "END".to_string(),
            Operation::Create(CreateOperation::Table { identifier, .. }) => {
                format!("CREATE TABLE {identifier}")
            }
            Operation::Create(CreateOperation::View { identifier, .. }) => {
                format!("CREATE VIEW {identifier}")
            }
            Operation::Drop(drop) => {
                format!(
                    "DROP {} {}",
                    if drop.is_view { "VIEW" } else { "TABLE" },
                    drop.identifier
                )
            }
            Operation::Explain(_) => "EXPLAIN".to_string(),
            Operation::Show(_) => "SHOW".to_string(),
            Operation::Describe { identifier } => format!("DESCRIBE {identifier}"),
            Operation::Set(_) => "SET".to_string(),
            Operation::Reset(_) => "RESET".to_string(),
            Operation::Use(_) => "USE".to_string(),
        }
    }
}

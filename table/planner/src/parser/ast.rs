//! Statements as written, before names and types are resolved.

use aquifer_table_common::TextPosition;
use sqlparser::ast::{Expr, Ident, Query};
use sqlparser::tokenizer::Location;

/// A path as written.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPathSyntax {
    /// One to three parts, or more if the user erred.
    pub parts: Vec<Ident>,
    /// Where it begins.
    pub location: Location,
}

impl ObjectPathSyntax {
    /// The parts without quotes.
    pub fn names(&self) -> Vec<String> {
        self.parts.iter().map(|p| p.value.clone()).collect()
    }
}

/// A statement with the text it was read from, so that errors can show the line.
#[derive(Debug, Clone)]
pub struct ParsedStatement {
    /// The whole text that was parsed, of which the statement may be a part.
    pub sql: std::sync::Arc<str>,
    /// Where the statement begins.
    pub location: Location,
    /// What it says.
    pub statement: Statement,
}

impl ParsedStatement {
    /// A place in the text.
    pub fn position(&self, location: Location) -> Option<TextPosition> {
        (location.line > 0).then(|| TextPosition::of(&self.sql, location.line, location.column))
    }
}

/// What a statement says.
#[derive(Debug, Clone)]
pub enum Statement {
    /// `SELECT ..`, `VALUES ..`, `WITH ..`.
    Query(Box<Query>),
    /// `INSERT INTO ..`.
    Insert(Insert),
    /// `EXECUTE STATEMENT SET BEGIN .. END`.
    StatementSet(Vec<Insert>),
    /// `BEGIN STATEMENT SET`.
    BeginStatementSet,
    /// `END`.
    EndStatementSet,
    /// `CREATE TABLE ..`.
    CreateTable(Box<CreateTable>),
    /// `CREATE VIEW ..`.
    CreateView(Box<CreateView>),
    /// `DROP TABLE ..`, `DROP VIEW ..`.
    Drop(Drop),
    /// `EXPLAIN ..`.
    Explain(Explain),
    /// `SHOW ..`.
    Show(Show),
    /// `DESCRIBE t`.
    Describe(ObjectPathSyntax),
    /// `SET`, `SET 'key' = 'value'`.
    Set(Option<(String, String)>),
    /// `RESET`, `RESET 'key'`.
    Reset(Option<String>),
    /// `USE CATALOG c`.
    UseCatalog(Ident),
    /// `USE d`, `USE c.d`.
    UseDatabase(ObjectPathSyntax),
}

impl Statement {
    /// The statement's first words, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Statement::Query(_) => "a query",
            Statement::Insert(_) => "INSERT",
            Statement::StatementSet(_) => "EXECUTE STATEMENT SET",
            Statement::BeginStatementSet => "BEGIN STATEMENT SET",
            Statement::EndStatementSet => "END",
            Statement::CreateTable(_) => "CREATE TABLE",
            Statement::CreateView(_) => "CREATE VIEW",
            Statement::Drop(_) => "DROP",
            Statement::Explain(_) => "EXPLAIN",
            Statement::Show(_) => "SHOW",
            Statement::Describe(_) => "DESCRIBE",
            Statement::Set(_) => "SET",
            Statement::Reset(_) => "RESET",
            Statement::UseCatalog(_) | Statement::UseDatabase(_) => "USE",
        }
    }
}

/// `INSERT { INTO | OVERWRITE } t [PARTITION (..)] [(columns)] query`.
#[derive(Debug, Clone)]
pub struct Insert {
    /// The target.
    pub target: ObjectPathSyntax,
    /// `OVERWRITE` instead of `INTO`.
    pub overwrite: bool,
    /// Static partition values.
    pub partition: Vec<(Ident, Expr)>,
    /// The target columns in the order of the query's columns.
    pub columns: Option<Vec<Ident>>,
    /// What is inserted.
    pub query: Box<Query>,
}

/// A type as written, in a form that `DataType::from_str` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeSyntax {
    /// The text.
    pub text: String,
    /// Where it begins.
    pub location: Location,
}

/// An expression with its text.
#[derive(Debug, Clone)]
pub struct ExprSyntax {
    /// The expression.
    pub expr: Expr,
    /// Its text.
    pub text: String,
}

/// `CREATE [TEMPORARY] TABLE [IF NOT EXISTS] t (..) [COMMENT ..] [PARTITIONED BY (..)] WITH (..)`.
#[derive(Debug, Clone)]
pub struct CreateTable {
    /// The table.
    pub name: ObjectPathSyntax,
    /// `TEMPORARY`.
    pub is_temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The columns in order.
    pub columns: Vec<ColumnSyntax>,
    /// `WATERMARK FOR c AS expr`.
    pub watermark: Option<(Ident, ExprSyntax)>,
    /// `[CONSTRAINT name] PRIMARY KEY (..) NOT ENFORCED`.
    pub primary_key: Option<(Option<Ident>, Vec<Ident>)>,
    /// `COMMENT '..'`.
    pub comment: Option<String>,
    /// `PARTITIONED BY (..)`.
    pub partitioned_by: Vec<Ident>,
    /// `WITH (..)`.
    pub options: Vec<(String, String)>,
}

/// A column of a `CREATE TABLE`.
#[derive(Debug, Clone)]
pub struct ColumnSyntax {
    /// The name.
    pub name: Ident,
    /// What it holds.
    pub kind: ColumnKindSyntax,
    /// `COMMENT '..'`.
    pub comment: Option<String>,
}

/// What a column of a `CREATE TABLE` holds.
#[derive(Debug, Clone)]
pub enum ColumnKindSyntax {
    /// `c type`.
    Physical(TypeSyntax),
    /// `c type METADATA [FROM 'key'] [VIRTUAL]`.
    Metadata {
        /// The type.
        data_type: TypeSyntax,
        /// `FROM 'key'`.
        key: Option<String>,
        /// `VIRTUAL`.
        is_virtual: bool,
    },
    /// `c AS expr`.
    Computed(Box<ExprSyntax>),
}

/// `CREATE [TEMPORARY] VIEW [IF NOT EXISTS] v [(columns)] [COMMENT ..] AS query`.
#[derive(Debug, Clone)]
pub struct CreateView {
    /// The view.
    pub name: ObjectPathSyntax,
    /// `TEMPORARY`.
    pub is_temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Names for the query's columns.
    pub columns: Vec<Ident>,
    /// `COMMENT '..'`.
    pub comment: Option<String>,
    /// The query.
    pub query: Box<Query>,
    /// Its text.
    pub query_text: String,
}

/// What a `DROP` removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    /// A table.
    Table,
    /// A view.
    View,
}

/// `DROP [TEMPORARY] { TABLE | VIEW } [IF EXISTS] t`.
#[derive(Debug, Clone)]
pub struct Drop {
    /// What is removed.
    pub kind: DropKind,
    /// Its name.
    pub name: ObjectPathSyntax,
    /// `TEMPORARY`.
    pub is_temporary: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
}

/// `EXPLAIN [PLAN FOR | details] statement`.
#[derive(Debug, Clone)]
pub struct Explain {
    /// `ESTIMATED_COST`, `CHANGELOG_MODE`, `PLAN_ADVICE`, `JSON_EXECUTION_PLAN`.
    pub details: Vec<Ident>,
    /// What is explained: a query, an INSERT or a statement set.
    pub statement: Box<Statement>,
}

/// `SHOW ..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
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

//! Wrong use of the API or of names.

use super::{TextPosition, did_you_mean, registered};

/// A wrong use of the API or of a name, with its place if it came from a SQL text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ValidationError {
    /// What is wrong.
    pub kind: ValidationErrorKind,
    /// Where, if it came from a SQL text.
    pub position: Option<TextPosition>,
}

/// The kinds of [`ValidationError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationErrorKind {
    /// A column that no table in reach has.
    #[error("column '{column}' does not exist{}", in_tables(tables))]
    UnknownColumn {
        /// The column as written.
        column: String,
        /// The tables in reach, by alias or name.
        tables: Vec<String>,
        /// The columns in reach.
        candidates: Vec<String>,
    },
    /// A column that several tables in reach have.
    #[error("column '{column}' is ambiguous: {} have it", quoted(tables))]
    AmbiguousColumn {
        /// The column as written.
        column: String,
        /// The tables that have it.
        tables: Vec<String>,
    },
    /// A table or view that is not in the catalog.
    #[error("table '{table}' does not exist")]
    UnknownTable {
        /// The path as written.
        table: String,
        /// Tables and views in reach.
        candidates: Vec<String>,
    },
    /// A qualifier such as `t` in `t.a` or `t.*` that no table in reach has.
    #[error("'{qualifier}' names no table of this query")]
    UnknownQualifier {
        /// The qualifier as written.
        qualifier: String,
        /// The names in reach.
        candidates: Vec<String>,
    },
    /// A function that is not registered.
    #[error("function '{function}' does not exist")]
    UnknownFunction {
        /// The name as written.
        function: String,
        /// All function names.
        candidates: Vec<String>,
    },
    /// Arguments that fit no signature of a function.
    #[error("function '{function}' cannot take ({arguments})")]
    InvalidArguments {
        /// The function.
        function: String,
        /// The argument types as written in SQL.
        arguments: String,
        /// The signatures it has.
        signatures: Vec<String>,
    },
    /// Two things of one name where names must differ.
    #[error("{what} '{name}' occurs twice")]
    DuplicateName {
        /// What the name names: column, table alias, common table expression.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A column that is neither grouped nor aggregated.
    #[error("column '{column}' is neither in GROUP BY nor inside an aggregate function")]
    NotGrouped {
        /// The column as written.
        column: String,
    },
    /// An aggregate where none may stand.
    #[error("aggregate function '{function}' may not stand in {clause}")]
    MisplacedAggregate {
        /// The function.
        function: String,
        /// The clause.
        clause: &'static str,
    },
    /// An option key that the connector, format or engine does not know.
    #[error("unknown option '{key}' for {owner}")]
    UnknownOption {
        /// The key as written.
        key: String,
        /// Whose option it should be: `connector 'filesystem'`.
        owner: String,
        /// The keys it knows.
        candidates: Vec<String>,
    },
    /// An option that must be given.
    #[error("option '{key}' of {owner} is missing")]
    MissingOption {
        /// The key.
        key: String,
        /// Whose option.
        owner: String,
        /// What it means.
        description: String,
    },
    /// An option whose value cannot be used.
    #[error("value '{value}' of option '{key}' is not valid: {reason}")]
    InvalidOption {
        /// The key.
        key: String,
        /// The value as written, masked if secret.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A connector, format or catalog kind that is not registered.
    #[error("{what} '{identifier}' is not registered")]
    UnknownFactory {
        /// `connector` or `format`.
        what: &'static str,
        /// The identifier as written.
        identifier: String,
        /// The registered identifiers.
        candidates: Vec<String>,
    },
    /// A factory that cannot do what is asked for.
    #[error("{what} '{identifier}' cannot be used as a {role}")]
    WrongRole {
        /// `connector` or `format`.
        what: &'static str,
        /// Its identifier.
        identifier: String,
        /// `source` or `sink`.
        role: &'static str,
    },
    /// An updating query whose target takes only some kinds of changes.
    #[error(
        "{target} cannot take the changes of this query: it accepts {accepted}, the query produces {produced}"
    )]
    UpdatesNotAccepted {
        /// The target: `sink 'x'`, `an append-only stream`.
        target: String,
        /// The kinds it takes, such as `[I]`.
        accepted: String,
        /// The kinds the query produces.
        produced: String,
        /// The node that makes them.
        cause: String,
    },
    /// A statement of one kind where another kind is wanted.
    #[error("expected {expected}, but this is {found}")]
    WrongStatement {
        /// What is wanted.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A path that is not `object`, `database.object` or `catalog.database.object`.
    #[error("'{identifier}' is not a valid identifier: {reason}")]
    InvalidIdentifier {
        /// The text as given.
        identifier: String,
        /// What is wrong.
        reason: String,
    },
    /// A clause that is valid by grammar but wrong in meaning.
    #[error("{message}")]
    InvalidClause {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
    quoted.join(", ")
}

fn in_tables(tables: &[String]) -> String {
    match tables {
        [] => String::new(),
        [one] => format!(" in table '{one}'"),
        many => format!(" in any of the tables {}", quoted(many)),
    }
}

impl ValidationErrorKind {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownColumn { .. } => "validation.unknown_column",
            Self::AmbiguousColumn { .. } => "validation.ambiguous_column",
            Self::UnknownTable { .. } => "validation.unknown_table",
            Self::UnknownQualifier { .. } => "validation.unknown_qualifier",
            Self::UnknownFunction { .. } => "validation.unknown_function",
            Self::InvalidArguments { .. } => "validation.invalid_arguments",
            Self::DuplicateName { .. } => "validation.duplicate_name",
            Self::NotGrouped { .. } => "validation.not_grouped",
            Self::MisplacedAggregate { .. } => "validation.misplaced_aggregate",
            Self::UnknownOption { .. } => "validation.unknown_option",
            Self::MissingOption { .. } => "validation.missing_option",
            Self::InvalidOption { .. } => "validation.invalid_option",
            Self::UnknownFactory { .. } => "validation.unknown_factory",
            Self::WrongRole { .. } => "validation.wrong_role",
            Self::UpdatesNotAccepted { .. } => "validation.updates_not_accepted",
            Self::WrongStatement { .. } => "validation.wrong_statement",
            Self::InvalidIdentifier { .. } => "validation.invalid_identifier",
            Self::InvalidClause { .. } => "validation.invalid_clause",
        }
    }

    /// What was seen beside the position, if there is more to say than the message.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::UpdatesNotAccepted { cause, .. } => Some(cause.clone()),
            Self::MissingOption { description, .. } if !description.is_empty() => {
                Some(format!("It means: {description}"))
            }
            _ => None,
        }
    }

    /// What to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownColumn {
                column, candidates, ..
            } => {
                let last = column.rsplit('.').next().unwrap_or(column);
                did_you_mean(last, candidates).or_else(|| {
                    (!candidates.is_empty() && candidates.len() <= 30)
                        .then(|| format!("Columns in reach: {}.", candidates.join(", ")))
                })
            }
            Self::AmbiguousColumn { column, tables } => {
                let first = tables.first().map_or("t", String::as_str);
                Some(format!(
                    "Write the table in front, such as {first}.{column}."
                ))
            }
            Self::UnknownTable { table, candidates } => {
                Some(registered("table", table, candidates))
            }
            Self::UnknownQualifier {
                qualifier,
                candidates,
            } => did_you_mean(qualifier, candidates).or_else(|| {
                (!candidates.is_empty()).then(|| format!("In reach: {}.", candidates.join(", ")))
            }),
            Self::UnknownFunction {
                function,
                candidates,
            } => did_you_mean(function, candidates),
            Self::InvalidArguments { signatures, .. } => {
                (!signatures.is_empty()).then(|| format!("It takes: {}.", signatures.join(" or ")))
            }
            Self::UnknownOption {
                key, candidates, ..
            } => Some(
                did_you_mean(key, candidates)
                    .unwrap_or_else(|| format!("Known options: {}.", candidates.join(", "))),
            ),
            Self::UnknownFactory {
                what,
                identifier,
                candidates,
            } => Some(registered(what, identifier, candidates)),
            Self::MissingOption { key, .. } => Some(format!("Add '{key}' = '...' to the options.")),
            Self::UpdatesNotAccepted { .. } => Some(
                "Use a target that takes updates (a retract or changelog stream, an upsert sink), \
                 or a query that only appends."
                    .to_string(),
            ),
            Self::NotGrouped { column } => {
                Some(format!("Add '{column}' to GROUP BY or aggregate it."))
            }
            Self::InvalidClause { hint, .. } => hint.clone(),
            _ => None,
        }
    }
}

impl ValidationError {
    /// The same error with its place, unless it has one.
    pub fn at(mut self, position: Option<TextPosition>) -> Self {
        self.position = self.position.or(position);
        self
    }
}

impl From<ValidationErrorKind> for ValidationError {
    fn from(kind: ValidationErrorKind) -> Self {
        ValidationError {
            kind,
            position: None,
        }
    }
}

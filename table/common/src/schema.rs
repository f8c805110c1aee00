//! Columns of a table: as declared ([`Schema`]) and as resolved ([`ResolvedSchema`]).
//!
//! A declaration may hold types and expressions as SQL text; resolving parses them and checks the
//! whole. A table has physical columns (stored outside), computed columns (made from others when
//! read) and metadata columns (offered by the connector, such as a file name).

use std::collections::HashSet;
use std::fmt;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_types::{DataType, Field};
use serde::{Deserialize, Serialize};

use crate::error::{Result, SchemaErrorKind};
use crate::expression::Expr;

/// A type given as such or as SQL text.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeSpec {
    /// The type.
    Type(DataType),
    /// The type as SQL text, such as `DECIMAL(10, 2) NOT NULL`.
    Sql(String),
}

impl TypeSpec {
    /// The type.
    ///
    /// # Errors
    /// `schema.types` if the text is no type.
    pub fn resolve(&self) -> Result<DataType> {
        match self {
            TypeSpec::Type(data_type) => Ok(data_type.clone()),
            TypeSpec::Sql(text) => Ok(text.parse::<DataType>()?),
        }
    }
}

impl From<DataType> for TypeSpec {
    fn from(data_type: DataType) -> Self {
        TypeSpec::Type(data_type)
    }
}

impl From<&str> for TypeSpec {
    fn from(text: &str) -> Self {
        TypeSpec::Sql(text.to_string())
    }
}

impl From<String> for TypeSpec {
    fn from(text: String) -> Self {
        TypeSpec::Sql(text)
    }
}

/// A declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct UnresolvedColumn {
    /// The name.
    pub name: String,
    /// What it holds.
    pub kind: UnresolvedColumnKind,
    /// A comment.
    pub comment: Option<String>,
}

/// What a declared column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum UnresolvedColumnKind {
    /// Stored data.
    Physical(TypeSpec),
    /// Computed from other columns.
    Computed(Expr),
    /// Offered by the connector.
    Metadata {
        /// The type.
        data_type: TypeSpec,
        /// The connector's key, if it is not the column's name.
        key: Option<String>,
        /// Whether the column is left out when the table is written.
        is_virtual: bool,
    },
}

/// A declared watermark.
#[derive(Debug, Clone, PartialEq)]
pub struct UnresolvedWatermark {
    /// The column that becomes an event-time attribute.
    pub column: String,
    /// The watermark, such as `ts - INTERVAL '5' SECOND`.
    pub expression: Expr,
}

/// A primary key; it is not enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimaryKey {
    /// The constraint's name, if given.
    pub name: Option<String>,
    /// The columns in order.
    pub columns: Vec<String>,
}

/// A declared schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The columns in order.
    pub columns: Vec<UnresolvedColumn>,
    /// The watermarks; at most one is offered today by the grammar.
    pub watermarks: Vec<UnresolvedWatermark>,
    /// The primary key.
    pub primary_key: Option<PrimaryKey>,
}

impl Schema {
    /// Starts a declaration.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder {
            schema: Schema::default(),
        }
    }

    /// A schema of physical columns alone.
    pub fn from_fields(fields: impl IntoIterator<Item = Field>) -> Schema {
        Schema::builder().from_fields(fields).build()
    }
}

/// Declares a [`Schema`] column by column.
#[derive(Debug, Clone)]
pub struct SchemaBuilder {
    schema: Schema,
}

impl SchemaBuilder {
    fn push(mut self, name: impl Into<String>, kind: UnresolvedColumnKind) -> Self {
        self.schema.columns.push(UnresolvedColumn {
            name: name.into(),
            kind,
            comment: None,
        });
        self
    }

    /// Adds a physical column.
    pub fn column(self, name: impl Into<String>, data_type: impl Into<TypeSpec>) -> Self {
        self.push(name, UnresolvedColumnKind::Physical(data_type.into()))
    }

    /// Adds a computed column.
    pub fn column_by_expression(
        self,
        name: impl Into<String>,
        expression: impl Into<Expr>,
    ) -> Self {
        self.push(name, UnresolvedColumnKind::Computed(expression.into()))
    }

    /// Adds a metadata column whose key is its name.
    pub fn column_by_metadata(
        self,
        name: impl Into<String>,
        data_type: impl Into<TypeSpec>,
    ) -> Self {
        self.push(
            name,
            UnresolvedColumnKind::Metadata {
                data_type: data_type.into(),
                key: None,
                is_virtual: false,
            },
        )
    }

    /// Adds a metadata column of a given key.
    pub fn column_by_metadata_key(
        self,
        name: impl Into<String>,
        data_type: impl Into<TypeSpec>,
        key: impl Into<String>,
        is_virtual: bool,
    ) -> Self {
        self.push(
            name,
            UnresolvedColumnKind::Metadata {
                data_type: data_type.into(),
                key: Some(key.into()),
                is_virtual,
            },
        )
    }

    /// Gives the last column a comment.
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        if let Some(column) = self.schema.columns.last_mut() {
            column.comment = Some(comment.into());
        }
        self
    }

    /// Declares a watermark.
    pub fn watermark(mut self, column: impl Into<String>, expression: impl Into<Expr>) -> Self {
        self.schema.watermarks.push(UnresolvedWatermark {
            column: column.into(),
            expression: expression.into(),
        });
        self
    }

    /// Declares the primary key.
    pub fn primary_key<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        self.schema.primary_key = Some(PrimaryKey {
            name: None,
            columns,
        });
        self
    }

    /// Declares the primary key with a constraint name.
    pub fn primary_key_named<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        self.schema.primary_key = Some(PrimaryKey {
            name: Some(name.into()),
            columns,
        });
        self
    }

    /// Adds a physical column per field.
    pub fn from_fields(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        for field in fields {
            self = self.column(field.name, field.data_type);
        }
        self
    }

    /// Ends the declaration; it is checked when it is resolved.
    pub fn build(self) -> Schema {
        self.schema
    }
}

/// A resolved column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: DataType,
    /// What it holds.
    pub kind: ColumnKind,
    /// A comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// What a resolved column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnKind {
    /// Stored data.
    Physical,
    /// Computed; the expression's inputs are the physical and metadata columns in schema order.
    Computed(ResolvedExpr),
    /// Offered by the connector.
    Metadata {
        /// The connector's key.
        key: String,
        /// Whether the column is left out when the table is written.
        is_virtual: bool,
    },
}

impl Column {
    /// A physical column.
    pub fn physical(name: impl Into<String>, data_type: DataType) -> Self {
        Column {
            name: name.into(),
            data_type,
            kind: ColumnKind::Physical,
            comment: None,
        }
    }

    /// Whether the column is written to the outside.
    pub fn is_persisted(&self) -> bool {
        match &self.kind {
            ColumnKind::Physical => true,
            ColumnKind::Computed(_) => false,
            ColumnKind::Metadata { is_virtual, .. } => !is_virtual,
        }
    }

    /// Whether the column is computed.
    pub fn is_computed(&self) -> bool {
        matches!(self.kind, ColumnKind::Computed(_))
    }
}

/// A resolved watermark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatermarkSpec {
    /// The event-time column, by index in the schema.
    pub column: usize,
    /// The watermark; its inputs are all columns in schema order.
    pub expression: ResolvedExpr,
}

/// A resolved and checked schema.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResolvedSchema {
    /// The columns in order.
    pub columns: Vec<Column>,
    /// The watermarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watermarks: Vec<WatermarkSpec>,
    /// The primary key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_key: Option<PrimaryKey>,
}

impl ResolvedSchema {
    /// Checks and makes a schema.
    ///
    /// # Errors
    /// `schema.invalid_schema` if a name occurs twice or a key column is missing, computed or
    /// nullable.
    pub fn new(
        columns: Vec<Column>,
        watermarks: Vec<WatermarkSpec>,
        primary_key: Option<PrimaryKey>,
    ) -> Result<Self> {
        let invalid = |reason: String| SchemaErrorKind::InvalidSchema { reason };
        let mut seen = HashSet::new();
        for column in &columns {
            if !seen.insert(column.name.as_str()) {
                return Err(invalid(format!("column '{}' occurs twice", column.name)).into());
            }
        }
        if let Some(key) = &primary_key {
            let mut seen = HashSet::new();
            for name in &key.columns {
                if !seen.insert(name) {
                    let reason = format!("primary key column '{name}' occurs twice");
                    return Err(invalid(reason).into());
                }
                let reason = match columns.iter().find(|c| &c.name == name) {
                    None => format!("primary key column '{name}' does not exist"),
                    Some(c) if c.kind != ColumnKind::Physical => {
                        format!("primary key column '{name}' is not a physical column")
                    }
                    Some(c) if c.data_type.nullable => {
                        format!("primary key column '{name}' is nullable; declare it NOT NULL")
                    }
                    Some(_) => continue,
                };
                return Err(invalid(reason).into());
            }
        }
        Ok(ResolvedSchema {
            columns,
            watermarks,
            primary_key,
        })
    }

    /// A schema of physical columns alone.
    pub fn physical(fields: impl IntoIterator<Item = Field>) -> Self {
        let columns = fields
            .into_iter()
            .map(|f| Column::physical(f.name, f.data_type))
            .collect();
        ResolvedSchema {
            columns,
            watermarks: Vec::new(),
            primary_key: None,
        }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The names in order.
    pub fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }

    /// The types in order.
    pub fn column_types(&self) -> Vec<DataType> {
        self.columns.iter().map(|c| c.data_type.clone()).collect()
    }

    /// The index of a column.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Names and types of all columns.
    pub fn fields(&self) -> Vec<Field> {
        self.columns
            .iter()
            .map(|c| Field::new(c.name.clone(), c.data_type.clone()))
            .collect()
    }

    /// Names and types of what a source produces: physical, then metadata columns in order.
    pub fn source_fields(&self) -> Vec<Field> {
        let field = |c: &Column| Field::new(c.name.clone(), c.data_type.clone());
        self.columns
            .iter()
            .filter(|c| !c.is_computed())
            .map(field)
            .collect()
    }

    /// Names and types of the physical columns.
    pub fn physical_fields(&self) -> Vec<Field> {
        let is_physical = |c: &&Column| c.kind == ColumnKind::Physical;
        let field = |c: &Column| Field::new(c.name.clone(), c.data_type.clone());
        self.columns.iter().filter(is_physical).map(field).collect()
    }

    /// Names and types of what is written to a sink.
    pub fn sink_fields(&self) -> Vec<Field> {
        let field = |c: &Column| Field::new(c.name.clone(), c.data_type.clone());
        self.columns
            .iter()
            .filter(|c| c.is_persisted())
            .map(field)
            .collect()
    }

    /// The primary key as indices into the columns; empty without one.
    pub fn primary_key_indices(&self) -> Vec<usize> {
        let key = self.primary_key.iter().flat_map(|k| &k.columns);
        key.filter_map(|name| self.index_of(name)).collect()
    }
}

impl fmt::Display for ResolvedSchema {
    /// Writes the schema over several lines in the reference's form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "(")?;
        let mut lines: Vec<String> = Vec::new();
        for column in &self.columns {
            let mut line = format!("  `{}` {}", column.name, column.data_type);
            match &column.kind {
                ColumnKind::Physical => {}
                ColumnKind::Computed(expression) => line.push_str(&format!(" AS {expression}")),
                ColumnKind::Metadata { key, is_virtual } => {
                    line.push_str(" METADATA");
                    if key != &column.name {
                        line.push_str(&format!(" FROM '{key}'"));
                    }
                    if *is_virtual {
                        line.push_str(" VIRTUAL");
                    }
                }
            }
            lines.push(line);
        }
        for watermark in &self.watermarks {
            let name = self
                .columns
                .get(watermark.column)
                .map_or("?", |c| c.name.as_str());
            lines.push(format!(
                "  WATERMARK FOR `{name}` AS {}",
                watermark.expression
            ));
        }
        if let Some(key) = &self.primary_key {
            let columns: Vec<String> = key.columns.iter().map(|c| format!("`{c}`")).collect();
            lines.push(format!(
                "  PRIMARY KEY ({}) NOT ENFORCED",
                columns.join(", ")
            ));
        }
        write!(f, "{}\n)", lines.join(",\n"))
    }
}

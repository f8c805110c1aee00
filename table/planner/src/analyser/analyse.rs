//! What all parts of the analyser share: catalogs, the text for error places, names in reach.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer_table_common::catalog::CatalogManager;
use aquifer_table_common::connector::FactoryRegistry;
use aquifer_table_common::operation::QueryOperation;
use aquifer_table_common::{
    ObjectIdentifier, Result, SchemaErrorKind, TableError, TextPosition, UnresolvedIdentifier,
    UnsupportedError, ValidationErrorKind,
};
use aquifer_types::DataType;
use sqlparser::ast::{ObjectName, ObjectNamePart};
use sqlparser::tokenizer::{Location, Span};

/// How deep views may name views.
const MAX_VIEW_DEPTH: usize = 64;

/// Turns the statements of one text into operations.
#[derive(Clone)]
pub struct Analyser<'a> {
    pub(super) catalogs: &'a CatalogManager,
    pub(super) factories: &'a FactoryRegistry,
    /// The text, for the places of errors.
    pub(super) sql: Arc<str>,
    /// The catalog and database that complete short names.
    pub(super) catalog: String,
    pub(super) database: String,
    /// Common table expressions in reach, innermost last.
    pub(super) with: Vec<HashMap<String, Arc<QueryOperation>>>,
    /// The views being expanded, outermost first.
    views: Vec<ObjectIdentifier>,
}

impl<'a> Analyser<'a> {
    /// An analyser of `sql` with the current names of the catalog manager.
    pub fn new(
        catalogs: &'a CatalogManager,
        factories: &'a FactoryRegistry,
        sql: impl Into<Arc<str>>,
    ) -> Self {
        Analyser {
            catalogs,
            factories,
            sql: sql.into(),
            catalog: catalogs.current_catalog(),
            database: catalogs.current_database(),
            with: Vec::new(),
            views: Vec::new(),
        }
    }

    /// An analyser of a view's text, with the names that were current when the view was made.
    ///
    /// # Errors
    /// `validation.invalid_clause` if the view contains itself.
    pub(super) fn for_view(
        &self,
        view: &ObjectIdentifier,
        text: &str,
        catalog: &str,
        database: &str,
    ) -> Result<Analyser<'a>> {
        if self.views.contains(view) || self.views.len() >= MAX_VIEW_DEPTH {
            return Err(ValidationErrorKind::InvalidClause {
                message: format!("view {view} contains itself"),
                hint: Some("Drop one of the views and create it anew.".to_string()),
            }
            .into());
        }
        let mut views = self.views.clone();
        views.push(view.clone());
        Ok(Analyser {
            catalogs: self.catalogs,
            factories: self.factories,
            sql: text.into(),
            catalog: catalog.to_string(),
            database: database.to_string(),
            with: Vec::new(),
            views,
        })
    }

    /// The place of a span; none for spans that the parser does not know.
    pub(super) fn place(&self, span: Span) -> Option<TextPosition> {
        self.location(span.start)
    }

    /// The place of a location; none for locations that the parser does not know.
    pub(super) fn location(&self, location: Location) -> Option<TextPosition> {
        (location.line > 0).then(|| TextPosition::of(&self.sql, location.line, location.column))
    }

    /// The error of a construct that is not offered.
    pub(super) fn unsupported(&self, feature: impl Into<String>, span: Span) -> TableError {
        UnsupportedError::new(feature).at(self.place(span)).into()
    }

    /// The error of a name or clause at a place.
    pub(super) fn invalid(&self, kind: ValidationErrorKind, span: Span) -> TableError {
        TableError::from(kind).at(self.place(span))
    }

    /// The error of a clause that is valid by grammar but wrong in meaning.
    pub(super) fn invalid_clause(&self, message: impl Into<String>, span: Span) -> TableError {
        self.invalid(
            ValidationErrorKind::InvalidClause {
                message: message.into(),
                hint: None,
            },
            span,
        )
    }

    /// The error of a type that does not fit.
    pub(super) fn mismatch(
        &self,
        what: impl Into<String>,
        expected: impl ToString,
        found: &DataType,
        span: Span,
    ) -> TableError {
        TableError::from(SchemaErrorKind::TypeMismatch {
            what: what.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        })
        .at(self.place(span))
    }

    /// The parts of a name in a query.
    pub(super) fn name_parts(&self, name: &ObjectName, span: Span) -> Result<Vec<String>> {
        let part = |part: &ObjectNamePart| match part {
            ObjectNamePart::Identifier(ident) => Ok(ident.value.clone()),
            ObjectNamePart::Function(_) => Err(self.unsupported("a function as a name", span)),
        };
        name.0.iter().map(part).collect()
    }

    /// A path of one to three parts, completed by the current names.
    pub(super) fn qualify(
        &self,
        parts: Vec<String>,
        place: Option<TextPosition>,
    ) -> Result<ObjectIdentifier> {
        let path = UnresolvedIdentifier::of(parts).map_err(|e| e.at(place))?;
        Ok(self.catalogs.qualify(&path))
    }
}

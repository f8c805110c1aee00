//! CREATE VIEW: the query is analysed once, so that a wrong view is refused at once.

use aquifer_table_common::Result;
use aquifer_table_common::catalog::{CatalogView, ViewQuery};
use aquifer_table_common::operation::CreateOperation;
use sqlparser::ast::Ident;

use super::Analyser;
use crate::parser::CreateView;

impl Analyser<'_> {
    pub(super) fn create_view(&self, create: &CreateView) -> Result<CreateOperation> {
        let identifier = self.qualify(create.name.names(), self.location(create.name.location))?;
        let mut fields = self.query(&create.query)?.fields();
        let columns: Vec<&Ident> = create.columns.iter().collect();
        let span = columns
            .first()
            .map_or_else(sqlparser::tokenizer::Span::empty, |c| c.span);
        self.rename(&mut fields, &columns, &format!("view {identifier}"), span)?;
        let query = ViewQuery::Sql {
            text: create.query_text.clone(),
            columns: create.columns.iter().map(|c| c.value.clone()).collect(),
            catalog: self.catalog.clone(),
            database: self.database.clone(),
        };
        Ok(CreateOperation::View {
            identifier,
            view: CatalogView {
                query,
                comment: create.comment.clone(),
            },
            is_temporary: create.is_temporary,
            if_not_exists: create.if_not_exists,
        })
    }
}

//! The reference page of connectors and formats, made from their lists of options.

use std::collections::BTreeMap;

use aquifer_runtime::config::render_reference;
use aquifer_table_common::options::AnyConfigOption;
use aquifer_table_common::schema::ResolvedSchema;
use aquifer_types::{DataTypes, Field};

use crate::connectors;

/// The page `docs/connectors.md`: every connector and format with its options.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# Connectors and formats\n\n\
         Made from the lists of options; `CREATE TABLE .. WITH ('connector' = '..', 'format' = '..', ..)` \
         takes them. A format's options are written with its name in front: `csv.header`.\n",
    );
    for connector in connectors() {
        page.push_str(&format!(
            "\n## Connector `{}`\n\n{}\n",
            connector.identifier(),
            connector.description()
        ));
        if connector.takes_format() {
            page.push_str("Needs the option `format`.\n");
        }
        push_options(&mut page, "Must be given", connector.required_options());
        push_options(&mut page, "May be given", connector.optional_options());
        let by_key: BTreeMap<&str, &'static dyn AnyConfigOption> = connector
            .column_options(&columns())
            .into_iter()
            .map(|(_, option)| (option.key(), option))
            .collect();
        let options: Vec<&'static dyn AnyConfigOption> = by_key.into_values().collect();
        push_options(
            &mut page,
            "May be given per column, whose name stands for `#`",
            &options,
        );
    }
    for format in aquifer_formats::formats() {
        page.push_str(&format!(
            "\n## Format `{}`\n\n{}\n",
            format.identifier(),
            format.description()
        ));
        push_options(&mut page, "Must be given", format.required_options());
        push_options(&mut page, "May be given", format.optional_options());
    }
    page
}

fn push_options(page: &mut String, title: &str, options: &[&'static dyn AnyConfigOption]) {
    if !options.is_empty() {
        page.push_str(&format!("\n{title}:\n\n{}", render_reference(options)));
    }
}

/// Columns that between them know every option of a column.
fn columns() -> ResolvedSchema {
    ResolvedSchema::physical([
        Field::new("a", DataTypes::int()),
        Field::new("b", DataTypes::string()),
        Field::new("c", DataTypes::timestamp(3)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors.md");
        let page = reference_page();
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "run this test with UPDATE_REFERENCE=1 to write {path} anew"
        );
    }
}

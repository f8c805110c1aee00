//! The function reference, `docs/functions.md`, is generated from the lists of functions.
//!
//! `AQUIFER_UPDATE_DOCS=1` rewrites it; otherwise a stale page fails the test.

use std::fmt::Write as _;
use std::path::Path;

use aquifer_functions::Volatility;
use aquifer_functions::aggregate::AGGREGATES;
use aquifer_functions::scalar::FUNCTIONS;

fn entry(page: &mut String, name: &str, aliases: &[&str], signatures: &[String], doc: &str) {
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let aliases = match aliases {
        [] => String::new(),
        some => format!(
            ", also {}",
            some.iter().map(|a| code(a)).collect::<Vec<_>>().join(", ")
        ),
    };
    let signatures: Vec<String> = signatures.iter().map(|s| code(s)).collect();
    let (name, signatures) = (code(name), signatures.join("<br>"));
    let _ = writeln!(
        page,
        "| {name}{aliases} | {signatures} | {} |",
        doc.replace('|', "\\|")
    );
}

fn page() -> String {
    let mut page = String::from(
        "# Functions\n\nNames may be written in any case. A NULL argument gives NULL unless the text says \
         otherwise.\n\n## Scalar functions\n\n| name | takes | returns |\n| --- | --- | --- |\n",
    );
    for function in FUNCTIONS.iter() {
        let doc = match function.volatility() {
            Volatility::Immutable => function.doc().to_owned(),
            Volatility::Epoch => format!("{} The same for all rows of an epoch.", function.doc()),
            Volatility::Row => format!("{} Not deterministic.", function.doc()),
        };
        entry(
            &mut page,
            function.name(),
            function.aliases(),
            &function.signatures(),
            &doc,
        );
    }
    page.push_str("\n## Aggregate functions\n\n| name | takes | returns |\n| --- | --- | --- |\n");
    for function in AGGREGATES {
        entry(
            &mut page,
            function.name(),
            function.aliases(),
            &function.signatures(),
            function.doc(),
        );
    }
    page
}

#[test]
fn page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/functions.md");
    let page = page();
    if std::env::var_os("AQUIFER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/functions.md is stale: run this test with AQUIFER_UPDATE_DOCS=1 to rewrite it"
    );
}

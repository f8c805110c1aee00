//! Plans of the queries in `tests/plans/<topic>.sql` against the texts in `<topic>.plan`.
//!
//! Statements in a file end with a semicolon. `UPDATE_PLANS=1 cargo test -p aquifer-planner plans`
//! rewrites the expected texts; the diff is what is reviewed.

use std::fs;
use std::path::Path;

use aquifer_table_common::operation::{ExplainDetail, ExplainFormat};

use crate::testing::Fixture;

#[test]
fn plans_are_as_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let update = std::env::var_os("UPDATE_PLANS").is_some();
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "sql"));
    files.sort();
    assert!(!files.is_empty());
    let mut changed = Vec::new();
    for path in files {
        let mut found = String::new();
        let fixture = Fixture::new();
        let sql = fs::read_to_string(&path).unwrap();
        for statement in fixture.planner.split(&sql).unwrap() {
            let operation = fixture
                .planner
                .analyse(&statement)
                .unwrap_or_else(|e| panic!("{e:?}"));
            let details = [ExplainDetail::ChangelogMode];
            let text = fixture
                .planner
                .explain(&[operation], ExplainFormat::Text, &details)
                .unwrap();
            found.push_str(&format!(
                "#### statement at line {}\n{text}\n",
                statement.location.line
            ));
        }
        let expected = path.with_extension("plan");
        if update {
            fs::write(&expected, found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            changed.push(format!("{}:\n{found}", expected.display()));
        }
    }
    assert!(
        changed.is_empty(),
        "plans differ (UPDATE_PLANS=1 rewrites them):\n{}",
        changed.join("\n")
    );
}

#[test]
fn json_and_wrong_statements() {
    let fixture = Fixture::new();
    let query = fixture.operation("SELECT k FROM updates").unwrap();
    let json = fixture
        .planner
        .explain(std::slice::from_ref(&query), ExplainFormat::Json, &[])
        .unwrap();
    assert!(json.contains("stream-exec-table-source-scan_1"), "{json}");
    // The text does not depend on what was planned before.
    assert_eq!(
        json,
        fixture
            .planner
            .explain(&[query], ExplainFormat::Json, &[])
            .unwrap()
    );
    let show = fixture.operation("SHOW TABLES").unwrap();
    let error = fixture
        .planner
        .explain(&[show], ExplainFormat::Text, &[])
        .unwrap_err();
    assert_eq!(error.code(), "validation.wrong_statement");
}

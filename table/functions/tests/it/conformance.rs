//! The handed function records, as far as this package can run them.
//!
//! Reads `../shared/conformance/functions` beside the workspace (or `AQUIFER_CONFORMANCE`). A record
//! passes, is wrong, or is refused with a message; records whose SQL or functions are not known
//! here count as refused. The numbers of passes may only grow: `PASSES` holds them.
//! `AQUIFER_CONFORMANCE_SHOW=family` prints what does not pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aquifer_functions::{EvalContext, Evaluator, ResolvedExpr, fold_constants};
use aquifer_types::{ChangeBatch, DataType, DataTypes, Row, column_value};
use serde_json::Value as Json;

use super::resolve::{Problem, resolve};
use super::values::{from_json, same};

/// Passing records by family.
const PASSES: &[(&str, usize)] = &[
    ("cast", 557),
    ("collection", 255),
    ("comparison", 41),
    ("conditional", 27),
    ("decimal", 91),
    ("inet", 63),
    ("json", 102),
    ("like", 42),
    ("map", 43),
    ("math", 26),
    ("misc", 20),
    ("operators", 132),
    ("rand", 11),
    ("regexp", 51),
    ("row", 15),
    ("scalar", 428),
    ("sql_expr", 98),
    ("string", 105),
    ("time", 303),
];

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Pass,
    Refused(String),
    Wrong(String),
}

fn folder() -> Option<PathBuf> {
    let path = match std::env::var_os("AQUIFER_CONFORMANCE") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"),
    };
    Some(path.join("functions")).filter(|p| p.is_dir())
}

fn check(record: &Json) -> Outcome {
    let refused = |text: String| Outcome::Refused(text);
    let mut columns = Vec::new();
    let mut values = Vec::new();
    for field in record["fields"].as_array().into_iter().flatten() {
        let name = field[0].as_str().unwrap_or_default().to_owned();
        let Ok(data_type) = field[1].as_str().unwrap_or_default().parse::<DataType>() else {
            return refused(format!("type {}", field[1]));
        };
        let Some(value) = from_json(&field[2], &data_type) else {
            return refused(format!("value {} of {data_type}", field[2]));
        };
        values.push(value);
        columns.push((name, data_type));
    }
    let Some(select) = record["select"].as_str() else {
        return refused("a list".to_owned());
    };
    // A spelling that the parser does not take in casts.
    let mut select = select.to_owned();
    for precision in ["3", "9"] {
        let spelled = format!("TIMESTAMP({precision}) WITH LOCAL TIME ZONE");
        select = select.replace(&spelled, &format!("TIMESTAMP_LTZ({precision})"));
    }
    let error = record["error"].as_str();
    let expr = match resolve(&select, &columns) {
        Ok(expr) => expr,
        Err(Problem::Unsupported(message)) => return refused(message),
        Err(Problem::Invalid(found)) if found.code() == "function.unknown" => {
            return refused(found.to_string());
        }
        Err(Problem::Invalid(_)) if error == Some("validation") => return Outcome::Pass,
        Err(Problem::Invalid(found)) => return refused(found.to_string()),
    };
    let types: Vec<DataType> = columns.into_iter().map(|(_, t)| t).collect();
    let batch = match ChangeBatch::from_rows(&[Row::of(values)], &types) {
        Ok(batch) => batch,
        Err(error) => return refused(error.to_string()),
    };
    let zone = record["config"]["table.local-time-zone"]
        .as_str()
        .unwrap_or("UTC");
    let Ok(time_zone) = zone.parse() else {
        return refused(format!("zone {zone}"));
    };
    let context = EvalContext {
        epoch_time_ms: 1_700_000_000_000,
        time_zone,
    };
    let run = |expr: &ResolvedExpr| {
        let evaluator = Evaluator::compile(expr)?;
        let column = evaluator.evaluate(batch.columns(), 1, &context)?;
        Ok::<_, aquifer_functions::FunctionError>(column_value(
            column.as_ref(),
            0,
            expr.data_type(),
        ))
    };
    if let Some(error) = error {
        return match (error, run(&expr)) {
            ("runtime", Err(_)) | ("validation", Err(_)) => Outcome::Pass,
            (_, found) => Outcome::Wrong(format!("expected a {error} error, found {found:?}")),
        };
    }
    if let Some(wanted) = record["type"].as_str() {
        match wanted.parse::<DataType>() {
            Ok(wanted) if wanted == *expr.data_type() => {}
            _ => return Outcome::Wrong(format!("type {wanted}, found {}", expr.data_type())),
        }
    }
    if record["check"] == "type_only" {
        return Outcome::Pass;
    }
    let (expr, expected) = match record.get("expected_text") {
        Some(text) => {
            let expr = match expr.cast(DataTypes::string()) {
                Ok(expr) => expr,
                Err(error) => return refused(error.to_string()),
            };
            (expr, from_json(text, &DataTypes::string()))
        }
        None => {
            let expected = from_json(&record["expected"], expr.data_type());
            (expr, expected)
        }
    };
    let Some(expected) = expected else {
        return refused(format!("value {}", record["expected"]));
    };
    match (run(&expr), run(&fold_constants(expr.clone()))) {
        (Ok(found), Ok(folded)) if same(&found, &expected) && same(&folded, &expected) => {
            Outcome::Pass
        }
        (Ok(found), _) => Outcome::Wrong(format!("expected {expected:?}, found {found:?}")),
        (Err(error), _) => refused(error.to_string()),
    }
}

#[test]
fn functions() {
    let Some(folder) = folder() else {
        println!("skipped: no folder ../shared/conformance/functions beside the workspace");
        return;
    };
    let show = std::env::var("AQUIFER_CONFORMANCE_SHOW").unwrap_or_default();
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let family = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let record: Json = serde_json::from_str(line).unwrap();
            let outcome = check(&record);
            if outcome != Outcome::Pass && (show == "all" || show == family) {
                println!(
                    "{} {} {} {outcome:?}",
                    record["id"], record["select"], record["fields"]
                );
            }
            let counts = counts.entry(family.clone()).or_default();
            counts[match outcome {
                Outcome::Pass => 0,
                Outcome::Refused(_) => 1,
                Outcome::Wrong(_) => 2,
            }] += 1;
        }
    }
    for (family, [pass, refused, wrong]) in &counts {
        println!("{family:12} {pass:4} pass {refused:4} refused {wrong:4} wrong");
    }
    for (family, passes) in PASSES {
        let found = counts.get(*family).map_or(0, |c| c[0]);
        assert!(
            found >= *passes,
            "{family}: {found} records pass, but {passes} did before"
        );
    }
}

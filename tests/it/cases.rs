//! Streaming jobs with known answers, from outside of this repository: source rows, SQL, and what the sink holds at
//! the end. Each case runs in one go; its final content must be right.
//!
//! Whatever a case asks for, it is right, refused with an error, or wrong; it never panics and never hangs. The ids of
//! the cases that are right stand in `cases.passing.txt`: the list only grows. `AQUIFER_RECORD_CASES=1` writes it anew,
//! and `AQUIFER_CASES=text` runs and prints only the cases whose id contains the text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aquifer::connectors::values;
use aquifer::prelude::*;
use aquifer::types::LogicalType;
use serde_json::Value as Json;

const TIME_LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// The statement was not accepted.
    Refused(String),
    /// The case needs something that this test cannot give it.
    Skipped(String),
    Wrong(String),
    /// The job failed.
    Failed(String),
    Panicked(String),
    Hung,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/cases")
}

/// The value as the type has it; `None` for types that this test does not build.
fn value(json: &Json, data_type: &DataType) -> Option<Value> {
    if json.is_null() {
        return Some(Value::Null);
    }
    let number = || json.as_i64();
    let text = || json.as_str();
    let floating = || {
        json.as_f64()
            .or_else(|| text()?.replace("Infinity", "inf").parse().ok())
    };
    let timestamp = |text: &str| {
        aquifer::types::temporal::parse_timestamp(&text.trim_end_matches('Z').replace('T', " "))
    };
    Some(match &data_type.logical {
        LogicalType::Boolean => Value::Boolean(json.as_bool()?),
        LogicalType::TinyInt => Value::TinyInt(number()?.try_into().ok()?),
        LogicalType::SmallInt => Value::SmallInt(number()?.try_into().ok()?),
        LogicalType::Int => Value::Int(number()?.try_into().ok()?),
        LogicalType::BigInt => Value::BigInt(number()?),
        LogicalType::Float => Value::Float(floating()? as f32),
        LogicalType::Double => Value::Double(floating()?),
        LogicalType::Decimal { .. } => Value::Decimal(text()?.parse().ok()?),
        LogicalType::Char(_) | LogicalType::VarChar(_) => Value::String(text()?.to_string()),
        LogicalType::Date => Value::Date(aquifer::types::temporal::parse_date(text()?)?),
        LogicalType::Time(_) => Value::Time(aquifer::types::temporal::parse_time(text()?)?),
        LogicalType::Timestamp(_) => Value::Timestamp(timestamp(text()?)?),
        LogicalType::TimestampLtz(_) => Value::TimestampLtz(timestamp(text()?)?),
        LogicalType::Array(element) => Value::Array(
            json.as_array()?
                .iter()
                .map(|item| value(item, element))
                .collect::<Option<_>>()?,
        ),
        LogicalType::Row(fields) => {
            let items = json.as_array()?.iter().zip(fields);
            Value::Row(Box::new(Row::of(
                items
                    .map(|(item, field)| value(item, &field.data_type))
                    .collect::<Option<_>>()?,
            )))
        }
        _ => return None,
    })
}

/// A text that is the same for equal values; floating point numbers are compared to nine digits.
fn normal(value: &Value) -> String {
    match value {
        Value::Float(number) => format!("{number:.5e}"),
        Value::Double(number) => format!("{number:.8e}"),
        value => format!("{value:?}"),
    }
}

fn physical(table: &Json) -> Option<Vec<DataType>> {
    let columns = table["schema"]
        .as_array()?
        .iter()
        .filter(|column| column["computed"].is_null());
    columns
        .map(|column| column["type"].as_str()?.parse().ok())
        .collect()
}

fn row(json: &[Json], types: &[DataType]) -> Option<Vec<Value>> {
    if json.len() != types.len() {
        return None;
    }
    json.iter()
        .zip(types)
        .map(|(json, data_type)| value(json, data_type))
        .collect()
}

fn source_rows(table: &Json, types: &[DataType]) -> Option<Vec<Row>> {
    let phases = ["rows_before", "rows_after"]
        .into_iter()
        .filter_map(|phase| table[phase].as_array())
        .flatten();
    phases
        .map(|json| {
            let json = json.as_array()?;
            let kind = match json[0].as_str()? {
                "+I" => RowKind::Insert,
                "-U" => RowKind::UpdateBefore,
                "+U" => RowKind::UpdateAfter,
                _ => RowKind::Delete,
            };
            Some(Row::of_kind(kind, row(&json[1..], types)?))
        })
        .collect()
}

fn ddl(case: &Json, table: &Json, options: &str) -> String {
    let name = table["table"].as_str().unwrap_or_default();
    let body = table["ddl_body"].as_str().unwrap_or_default();
    format!(
        "CREATE TABLE `{name}` ({body}) WITH ('connector' = 'values', {options}) -- {}",
        case["name"]
    )
}

/// The kinds that the source declares, and those that its rows have beyond them.
fn changelog_mode(table: &Json) -> String {
    let declared = table["changelog_mode"].as_array().into_iter().flatten();
    let phases = ["rows_before", "rows_after"]
        .into_iter()
        .filter_map(|phase| table[phase].as_array())
        .flatten();
    let kinds: BTreeSet<&str> = declared
        .chain(phases.map(|row| &row[0]))
        .filter_map(Json::as_str)
        .collect();
    let word = |kind: &&str| match *kind {
        "-U" => "UB",
        "+U" => "UA",
        "-D" => "D",
        _ => "I",
    };
    kinds.iter().map(word).collect::<Vec<_>>().join(",")
}

fn run(case: &Json, workers: usize) -> Outcome {
    let name = case["name"].as_str().unwrap_or_default();
    if case["udfs"]
        .as_array()
        .is_some_and(|functions| !functions.is_empty())
    {
        return Outcome::Skipped("it needs user functions".to_string());
    }
    if ["differs", "not_run"].contains(&case["one_shot"].as_str().unwrap_or("same")) {
        return Outcome::Skipped("it has no answer for a run in one go".to_string());
    }
    let env = StreamExecutionEnvironment::create_local(workers);
    let tables = StreamTableEnvironment::create(&env).unwrap();
    let refused = |error: TableError| Outcome::Refused(format!("{error} [{}]", error.code()));
    for (key, option) in case["config"].as_object().into_iter().flatten() {
        let option = option
            .as_str()
            .map_or_else(|| option.to_string(), str::to_string);
        // Options that only change another planner's plan are unknown here.
        let _ = tables.execute_sql(format!("SET '{key}' = '{option}'"));
    }
    let sources = case["sources"].as_array().map_or(&[][..], Vec::as_slice);
    for (turn, source) in sources.iter().enumerate() {
        let id = format!(
            "{name}/{workers}/{}",
            source["table"].as_str().unwrap_or_default()
        );
        let Some(rows) = physical(source).and_then(|types| source_rows(source, &types)) else {
            return Outcome::Skipped(
                "a source has types that this test does not build".to_string(),
            );
        };
        // One row per epoch, of each source in turn, is what other engines do: late rows are late in the same way.
        let empty = |epochs: usize| std::iter::repeat_n(Vec::new(), epochs);
        let in_turn = |row: Row| {
            empty(turn)
                .chain([vec![row]])
                .chain(empty(sources.len() - turn - 1))
        };
        values::register_epochs(&id, rows.into_iter().flat_map(in_turn).collect());
        let options = format!(
            "'data-id' = '{id}', 'changelog-mode' = '{}'",
            changelog_mode(source)
        );
        if let Err(error) = tables.execute_sql(ddl(case, source, &options)) {
            return refused(error);
        }
    }
    let sinks = case["sinks"].as_array().cloned().unwrap_or_default();
    for sink in &sinks {
        let id = format!(
            "{name}/{workers}/{}",
            sink["table"].as_str().unwrap_or_default()
        );
        values::clear_result(&id);
        if let Err(error) = tables.execute_sql(ddl(case, sink, &format!("'sink-id' = '{id}'"))) {
            return refused(error);
        }
    }
    for sql in case["setup_sql"].as_array().into_iter().flatten() {
        if let Err(error) = tables.execute_sql(sql.as_str().unwrap_or_default()) {
            return refused(error);
        }
    }
    for statement in case["statements"].as_array().into_iter().flatten() {
        let fails = statement["fails"].as_str();
        let started = match statement["statement_set"].as_array() {
            Some(statements) => {
                let set = tables.create_statement_set();
                statements
                    .iter()
                    .try_for_each(|sql| {
                        set.add_insert_sql(sql.as_str().unwrap_or_default())
                            .map(|_| ())
                    })
                    .and_then(|()| set.execute())
            }
            None => tables.execute_sql(statement["sql"].as_str().unwrap_or_default()),
        };
        match (started, fails) {
            (Err(error), Some("validation")) if error.code() != "unsupported.feature" => {
                return Outcome::Right;
            }
            (Err(error), _) => return refused(error),
            (Ok(_), Some("validation")) => {
                return Outcome::Wrong("it should have been refused".to_string());
            }
            (Ok(result), fails) => match (result.await_done(), fails) {
                (Ok(()), None) => (),
                (Err(_), Some(_)) => return Outcome::Right,
                (Ok(()), Some(_)) => {
                    return Outcome::Wrong("the job should have failed".to_string());
                }
                (Err(error), None) => return Outcome::Failed(error.to_string()),
            },
        }
    }
    sinks
        .iter()
        .map(|sink| check(case, sink, name, workers))
        .find(|outcome| *outcome != Outcome::Right)
        .unwrap_or(Outcome::Right)
}

fn check(case: &Json, sink: &Json, name: &str, workers: usize) -> Outcome {
    let id = format!(
        "{name}/{workers}/{}",
        sink["table"].as_str().unwrap_or_default()
    );
    let got = values::result(&id).materialized();
    let mut got: Vec<Vec<String>> = got
        .iter()
        .map(|row| row.fields().iter().map(normal).collect())
        .collect();
    got.sort();
    let alternatives = case["accept_any_of"].as_array().into_iter().flatten();
    let Some(types) = physical(sink) else {
        return Outcome::Skipped("a sink has types that this test does not build".to_string());
    };
    let mut closest = None;
    for expected in std::iter::once(&sink["final_rows"]).chain(alternatives) {
        let Some(expected) = expected.as_array() else {
            continue;
        };
        let rows: Option<Vec<Vec<String>>> = expected
            .iter()
            .map(|json| Some(row(json.as_array()?, &types)?.iter().map(normal).collect()))
            .collect();
        let Some(mut rows) = rows else {
            return Outcome::Skipped(
                "an answer has types that this test does not build".to_string(),
            );
        };
        rows.sort();
        if rows == got {
            return Outcome::Right;
        }
        closest.get_or_insert(rows);
    }
    match closest {
        Some(expected) => Outcome::Wrong(format!("expected {expected:?}\n  got      {got:?}")),
        None => Outcome::Skipped("it has no final rows".to_string()),
    }
}

/// Runs the case on a thread of its own, so that a panic or a hang is one outcome among others.
fn watch(case: &Json, workers: usize) -> Outcome {
    let (sender, receiver) = std::sync::mpsc::channel();
    let own = case.clone();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(run(&own, workers));
    });
    match receiver.recv_timeout(TIME_LIMIT) {
        Ok(outcome) => outcome,
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Outcome::Hung,
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err();
            let text = panic
                .as_ref()
                .and_then(|panic| panic.downcast_ref::<String>().cloned());
            Outcome::Panicked(text.unwrap_or_else(|| "a panic without a message".to_string()))
        }
    }
}

#[test]
fn the_cases_that_were_right_stay_right() {
    let Ok(entries) = std::fs::read_dir(folder()) else {
        println!("skipped: the cases are not here");
        return;
    };
    let filter = std::env::var("AQUIFER_CASES").ok();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let cases: Vec<Json> = files
        .iter()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .flat_map(|path| {
            serde_json::from_str::<Vec<Json>>(&std::fs::read_to_string(path).unwrap()).unwrap()
        })
        .filter(|case| {
            filter
                .as_ref()
                .is_none_or(|text| case["name"].as_str().unwrap().contains(text))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let outcomes = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["name"].as_str().unwrap().to_string();
                    let one = watch(case, 1);
                    let outcome = if one == Outcome::Right {
                        watch(case, 2)
                    } else {
                        one
                    };
                    outcomes.lock().unwrap().insert(name, outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();

    let mut families: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut broken = Vec::new();
    for (name, outcome) in &outcomes {
        let family = name
            .rsplit_once('-')
            .map_or(name.as_str(), |(family, _)| family);
        let slot = match outcome {
            Outcome::Right => 0,
            Outcome::Refused(_) => 1,
            Outcome::Skipped(_) => 2,
            _ => 3,
        };
        families.entry(family).or_default()[slot] += 1;
        match outcome {
            Outcome::Wrong(text) | Outcome::Failed(text) => println!("WRONG {name}: {text}"),
            Outcome::Refused(text) => println!(
                "refused {name}: {}",
                text.lines().next().unwrap_or_default()
            ),
            Outcome::Skipped(text) => println!("skipped {name}: {text}"),
            Outcome::Panicked(text) => broken.push(format!("{name} panicked: {text}")),
            Outcome::Hung => broken.push(format!("{name} hung")),
            Outcome::Right => (),
        }
    }
    println!("family: right, refused, skipped, wrong");
    for (family, [right, refused, skipped, wrong]) in &families {
        println!("{family}: {right}, {refused}, {skipped}, {wrong}");
    }
    assert!(broken.is_empty(), "{broken:#?}");
    if filter.is_some() {
        return;
    }

    let right: BTreeSet<&str> = outcomes
        .iter()
        .filter(|(_, outcome)| **outcome == Outcome::Right)
        .map(|(name, _)| name.as_str())
        .collect();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases.passing.txt");
    if std::env::var_os("AQUIFER_RECORD_CASES").is_some() {
        std::fs::write(
            &list,
            right
                .iter()
                .map(|name| format!("{name}\n"))
                .collect::<String>(),
        )
        .unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&list).unwrap_or_default();
    let lost: Vec<&str> = recorded
        .lines()
        .filter(|name| !right.contains(name))
        .collect();
    assert!(lost.is_empty(), "cases that were right before: {lost:?}");
}

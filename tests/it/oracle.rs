//! Random queries against the answers of another engine.
//!
//! `oracle.json` holds small tables with NULLs and duplicates, random queries over them, and the answers that SQLite
//! gave, for the part of SQL where it and the reference agree. Each query runs over rows that are only added, over a
//! changelog in which rows come, go and come again, and over upserts by a key; all cut into epochs at random. `AQUIFER_ORACLE=path` reads
//! another file of the same form.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use aquifer::connectors::values;
use aquifer::prelude::*;
use serde_json::Value as Json;

/// The columns of the tables in each set.
const TABLES: [(&str, &[(&str, &str)]); 3] = [
    (
        "a",
        &[
            ("k", "INT"),
            ("v", "INT"),
            ("d", "DOUBLE"),
            ("s", "STRING"),
            ("f", "BOOLEAN"),
        ],
    ),
    (
        "b",
        &[
            ("k", "INT"),
            ("w", "BIGINT"),
            ("s", "STRING"),
            ("g", "BOOLEAN"),
        ],
    ),
    ("c", &[("x", "INT"), ("y", "STRING"), ("z", "DOUBLE")]),
];

/// A bag of rows.
type Bag = BTreeMap<String, i64>;

/// How the rows of a table come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Changes {
    Inserts,
    Retractions,
    Upserts,
}

/// Random numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

fn value(json: &Json, type_name: &str) -> Value {
    match (json, type_name) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(bool), "BOOLEAN" | "b") => Value::Boolean(*bool),
        (Json::String(text), "STRING" | "s") => Value::String(text.clone()),
        (number, "INT" | "i") => Value::Int(number.as_i64().unwrap() as i32),
        (number, "BIGINT" | "l") => Value::BigInt(number.as_i64().unwrap()),
        (number, "DOUBLE" | "d") => Value::Double(number.as_f64().unwrap()),
        (json, type_name) => panic!("{json} is no {type_name}"),
    }
}

/// A text that is the same for equal rows; both zeros are one, and floating point is compared to nine digits.
fn normal(fields: &[Value]) -> String {
    let field = |value: &Value| match value {
        Value::Double(number) => format!("{:.8e}", number + 0.0),
        value => format!("{value:?}"),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// What happens to one row, or to one key: the kinds in turn.
fn life(
    row: &[Value],
    key: i32,
    others: &[Vec<Value>],
    changes: Changes,
    random: &mut Random,
) -> Vec<Row> {
    let of = |kind, fields: &[Value]| match changes {
        Changes::Upserts => Row::of_kind(kind, [&[Value::Int(key)], fields].concat()),
        _ => Row::of_kind(kind, fields.to_vec()),
    };
    let mut life = Vec::new();
    while changes != Changes::Inserts && random.below(3) == 0 {
        // Something else that is gone at the end, made of the fields of two rows.
        let (one, other) = (random.below(others.len()), random.below(others.len()));
        let split = random.below(row.len() + 1);
        let fields = [&others[one][..split], &others[other][split..]].concat();
        match (changes, random.below(2)) {
            (Changes::Upserts, 0) => life.push(of(RowKind::UpdateAfter, &fields)),
            (_, 0) => life.extend([of(RowKind::Insert, &fields), of(RowKind::Delete, &fields)]),
            _ => life.extend([of(RowKind::Insert, row), of(RowKind::Delete, row)]),
        }
    }
    life.push(of(
        if changes == Changes::Upserts {
            RowKind::UpdateAfter
        } else {
            RowKind::Insert
        },
        row,
    ));
    life
}

/// Epochs of changes that leave the rows.
fn changelog(rows: &[Vec<Value>], changes: Changes, random: &mut Random) -> Vec<Vec<Row>> {
    let mut epochs = vec![Vec::new()];
    let mut lives: Vec<_> = (0..)
        .zip(rows)
        .map(|(key, row)| life(row, key, rows, changes, random).into_iter())
        .collect();
    while !lives.is_empty() {
        let at = random.below(lives.len());
        match lives[at].next() {
            Some(row) => epochs.last_mut().unwrap().push(row),
            None => drop(lives.swap_remove(at)),
        }
        if random.below(4) == 0 {
            epochs.push(Vec::new());
        }
    }
    epochs
}

/// What is left at the end of the query's changes.
fn answer(set: &Json, sql: &str, changes: Changes, id: &str, seed: u64) -> Result<Bag, String> {
    let mut random = Random(seed);
    let env =
        StreamExecutionEnvironment::create_local(if changes == Changes::Inserts { 1 } else { 2 });
    let tables = StreamTableEnvironment::create(&env).unwrap();
    for (name, columns) in TABLES {
        let rows: Vec<Vec<Value>> = set[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let fields = row.as_array().unwrap().iter().zip(columns);
                fields.map(|(json, column)| value(json, column.1)).collect()
            })
            .collect();
        let id = format!("oracle/{id}/{changes:?}/{name}");
        values::register_epochs(&id, changelog(&rows, changes, &mut random));
        let declared: Vec<String> = columns
            .iter()
            .map(|(name, data_type)| format!("{name} {data_type}"))
            .collect();
        let (key, mode) = match changes {
            Changes::Inserts => ("", "I"),
            Changes::Retractions => ("", "I,UB,UA,D"),
            Changes::Upserts => ("id INT PRIMARY KEY NOT ENFORCED, ", "I,UA,D"),
        };
        tables
            .execute_sql(format!(
                "CREATE TABLE {name}_rows ({key}{}) WITH ('connector' = 'values', 'data-id' = '{id}', \
                 'changelog-mode' = '{mode}')",
                declared.join(", ")
            ))
            .unwrap();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        tables
            .execute_sql(format!(
                "CREATE VIEW {name} AS SELECT {} FROM {name}_rows",
                names.join(", ")
            ))
            .unwrap();
    }
    let rows = tables
        .execute_sql(sql)
        .and_then(|result| result.collect())
        .map_err(|error| format!("refused: {}", error.report()))?;
    let mut bag = Bag::new();
    for row in rows {
        let row = row.map_err(|error| format!("failed: {}", error.report()))?;
        let key = normal(row.fields());
        let count = bag.entry(key.clone()).or_default();
        *count += match row.kind() {
            RowKind::Insert | RowKind::UpdateAfter => 1,
            RowKind::UpdateBefore | RowKind::Delete => -1,
        };
        if *count < 0 {
            return Err(format!("[{key}] is taken back, but was not there"));
        }
        if *count == 0 {
            bag.remove(&key);
        }
    }
    Ok(bag)
}

fn check(sets: &Json, query: &Json, id: &str, seed: u64) -> Result<(), String> {
    let sql = query["sql"].as_str().unwrap();
    let set = &sets[query["set"].as_u64().unwrap() as usize];
    let mut expected = Bag::new();
    for row in query["rows"].as_array().unwrap() {
        let fields = row.as_array().unwrap().iter();
        let types = query["types"].as_str().unwrap();
        let fields = fields.enumerate();
        let fields: Vec<Value> = fields.map(|(i, json)| value(json, &types[i..=i])).collect();
        *expected.entry(normal(&fields)).or_default() += 1;
    }
    for changes in [Changes::Inserts, Changes::Retractions, Changes::Upserts] {
        let got = answer(set, sql, changes, id, seed)?;
        if got != expected {
            return Err(format!(
                "expected {expected:#?}\ngot {got:#?}\nwith {changes:?}"
            ));
        }
    }
    Ok(())
}

#[test]
fn answers_are_those_of_the_oracle() {
    let path = std::env::var_os("AQUIFER_ORACLE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/oracle.json"),
        PathBuf::from,
    );
    let file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let queries = file["queries"].as_array().unwrap();
    let next = AtomicUsize::new(0);
    let faults = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(query) = queries.get(at) else { break };
                    let run = || check(&file["sets"], query, &at.to_string(), at as u64);
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
                        .unwrap_or_else(|_| Err("a panic".to_string()));
                    if let Err(fault) = outcome {
                        let sql = query["sql"].as_str().unwrap();
                        faults
                            .lock()
                            .unwrap()
                            .push(format!("{sql}\nset {}: {fault}\n", query["set"]));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(
        faults.is_empty(),
        "{} of {} queries:\n{}",
        faults.len(),
        queries.len(),
        faults.join("\n")
    );
}

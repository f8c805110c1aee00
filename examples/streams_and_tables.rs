//! The main job: a stream becomes a table, SQL joins and aggregates it, and its changes become a stream again.
//!
//! ```sh
//! cargo run --release --example streams_and_tables
//! ```
//!
//! 1. Flights are read and parsed by the DataStream API and named as table `flights`.
//! 2. Airlines are a table over a CSV file.
//! 3. One query joins both and aggregates per airline. Its answer changes with every flight; as a retract stream, each
//!    change first takes back the old row and then adds the new one.
//! 4. A second statement writes very late departures to files. It is attached to the stream environment by a statement
//!    set, so that both run as one job and read the flights once.
//! 5. `env.execute()` runs the job.
//!
//! The data and its licence are described in `examples/data/README.md`.

#![expect(clippy::print_stdout, reason = "a program speaks by its output")]

#[path = "flights/mod.rs"]
mod flights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, io};

use aquifer::prelude::*;
use serde::{Deserialize, Serialize};

use flights::{FLIGHTS, Flight};

const AIRLINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/airlines.csv");

/// One row of the answer; its fields are the columns of the query, in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Summary {
    airline: String,
    flights: i64,
    cancelled: i64,
    mean_delay: Option<i32>,
    max_delay: Option<i32>,
}

/// The rows that were added and not taken back, with how often.
type Answer = Arc<Mutex<BTreeMap<Summary, i64>>>;

fn main() -> Result<(), TableError> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    let t_env = StreamTableEnvironment::create(&env)?;

    let flights = env
        .read_text_file(FLIGHTS)
        .filter(|line| !Flight::is_header(line))
        .try_map(|line| Flight::parse(&line))
        .uid("flights");
    t_env.create_temporary_view_from_stream("flights", &flights)?;
    t_env.execute_sql(format!(
        "CREATE TABLE airlines (carrier STRING, name STRING)
         WITH ('connector' = 'filesystem', 'path' = '{AIRLINES}', 'format' = 'csv', 'csv.header' = 'true')"
    ))?;

    let summary = t_env.sql_query(
        "SELECT a.name,
                COUNT(*) AS flights,
                COUNT(*) - COUNT(f.departure_delay) AS cancelled,
                AVG(f.departure_delay) AS mean_delay,
                MAX(f.departure_delay) AS max_delay
         FROM flights AS f JOIN airlines AS a ON f.carrier = a.carrier
         GROUP BY a.name",
    )?;
    let answer = Answer::default();
    let rows = Arc::clone(&answer);
    t_env
        .to_retract_stream::<Summary>(&summary)?
        .global()
        .for_each(move |(is_added, row)| apply(&rows, is_added, row));

    let folder = env::temp_dir().join("aquifer-streams-and-tables");
    if env.process() == 0 && folder.exists() {
        fs::remove_dir_all(&folder).map_err(|cause| RuntimeError::io(&folder, cause))?;
    }
    t_env.execute_sql(format!(
        "CREATE TABLE late_departures (
             scheduled STRING, airline STRING, origin STRING, destination STRING, delay INT
         ) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')",
        folder.display()
    ))?;
    let statements = t_env.create_statement_set();
    statements.add_insert_sql(
        "INSERT INTO late_departures
         SELECT f.scheduled, a.name, f.origin, f.destination, f.departure_delay
         FROM flights AS f JOIN airlines AS a ON f.carrier = a.carrier
         WHERE f.departure_delay > 8 * 60",
    )?;
    statements.attach_as_data_stream()?;

    env.execute()?;

    // The retract stream ends in process 0, and the files of all processes are in one folder.
    if env.process() == 0 {
        report_airlines(&answer);
        report_late(&folder).map_err(|cause| RuntimeError::io(&folder, cause))?;
    }
    Ok(())
}

/// Carries out one change of the retract stream.
fn apply(answer: &Answer, is_added: bool, row: Summary) {
    let mut rows = answer.lock().unwrap_or_else(PoisonError::into_inner);
    let count = rows.entry(row.clone()).or_default();
    *count += if is_added { 1 } else { -1 };
    if *count == 0 {
        rows.remove(&row);
    }
}

fn report_airlines(answer: &Answer) {
    println!(
        "{:<28} {:>7} {:>9} {:>10} {:>9}",
        "airline", "flights", "cancelled", "mean delay", "max delay"
    );
    let rows = answer.lock().unwrap_or_else(PoisonError::into_inner);
    for row in rows.keys() {
        println!(
            "{:<28} {:>7} {:>9} {:>10} {:>9}",
            row.airline,
            row.flights,
            row.cancelled,
            row.mean_delay.unwrap_or_default(),
            row.max_delay.unwrap_or_default()
        );
    }
}

fn report_late(folder: &Path) -> io::Result<()> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut lines = Vec::new();
    for file in files.collect::<io::Result<Vec<PathBuf>>>()? {
        lines.extend(fs::read_to_string(file)?.lines().map(ToOwned::to_owned));
    }
    lines.sort();
    println!("\n{} departures more than 8 hours late:", lines.len());
    for line in &lines {
        println!("{line}");
    }
    fs::remove_dir_all(folder)
}

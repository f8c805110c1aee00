//! What the tests share: environments, files, sorted lines.

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use aquifer_runtime::config::options::EPOCH_MAX_ROWS;
use aquifer_runtime::{Configuration, StreamExecutionEnvironment};
use aquifer_table::{EnvironmentSettings, StreamTableEnvironment};

/// An environment with all built-in connectors, whose sources give at most `max_rows` rows per epoch.
pub(crate) fn environment(workers: usize, max_rows: u64) -> StreamTableEnvironment {
    let config = Configuration::new().with(&EPOCH_MAX_ROWS, NonZeroU64::new(max_rows).unwrap());
    let env = StreamExecutionEnvironment::create_local_with(workers, config);
    over(&env)
}

/// Tables over a stream environment, with all built-in connectors.
pub(crate) fn over(env: &StreamExecutionEnvironment) -> StreamTableEnvironment {
    let settings = EnvironmentSettings::in_streaming_mode();
    StreamTableEnvironment::create_with_factories(env, settings, aquifer_connectors::registry())
        .unwrap()
}

/// `CREATE TABLE name (columns) WITH ('connector' = 'filesystem', ...)`.
pub(crate) fn file_table(
    t_env: &StreamTableEnvironment,
    name: &str,
    columns: &str,
    path: &Path,
    options: &str,
) {
    let path = path.display();
    let statement = format!(
        "CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', {options})"
    );
    t_env.execute_sql(statement).unwrap();
}

/// The lines of all visible files in a folder, sorted.
pub(crate) fn lines(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return lines;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if !path.file_name().unwrap().to_str().unwrap().starts_with('.') {
            lines.extend(
                fs::read_to_string(path)
                    .unwrap()
                    .lines()
                    .map(ToString::to_string),
            );
        }
    }
    lines.sort();
    lines
}

/// How many hidden files a folder has.
pub(crate) fn hidden(folder: &Path) -> usize {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_str().unwrap().starts_with('.'))
        .count()
}

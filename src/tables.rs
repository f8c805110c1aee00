//! Table environments that know the built-in connectors and formats.
//!
//! Connectors are written against the table layer, so the table layer cannot know them; here both meet. The types
//! stand before those of [`aquifer_table`], to which they dereference, and differ in nothing but the connectors they
//! start with.

use std::ops::Deref;

use aquifer_runtime::StreamExecutionEnvironment;
use aquifer_table::EnvironmentSettings;
use aquifer_table_common::Result;
use aquifer_table_common::connector::FactoryRegistry;

/// The connectors and formats that an environment starts with.
fn factories() -> FactoryRegistry {
    aquifer_connectors::registry()
}

/// Streams and tables in one program, with the built-in connectors and formats: see
/// [`aquifer_table::StreamTableEnvironment`], to which it dereferences.
///
/// ```
/// use aquifer::prelude::*;
///
/// # fn main() -> Result<(), TableError> {
/// let env = StreamExecutionEnvironment::create_local(1);
/// let t_env = StreamTableEnvironment::create(&env)?;
/// let people = env.from_elements([("Ann".to_string(), 41), ("Bob".to_string(), 17)]);
/// t_env.register_data_stream_as("people", &people, "name, age")?;
/// let adults = t_env.sql_query("SELECT name FROM people WHERE age >= 18")?;
/// let names = t_env.to_append_stream::<String>(&adults)?;
/// let names = names.execute_and_collect()?.collect::<Result<Vec<_>>>()?;
/// assert_eq!(names, ["Ann"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StreamTableEnvironment(aquifer_table::StreamTableEnvironment);

impl Deref for StreamTableEnvironment {
    type Target = aquifer_table::StreamTableEnvironment;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl StreamTableEnvironment {
    /// An environment that shares the options of `env`.
    ///
    /// # Errors
    /// `validation.invalid_option`.
    pub fn create(env: &StreamExecutionEnvironment) -> Result<Self> {
        Self::create_with(env, EnvironmentSettings::default())
    }

    /// As [`create`](Self::create), with settings.
    ///
    /// # Errors
    /// See there.
    pub fn create_with(
        env: &StreamExecutionEnvironment,
        settings: impl Into<EnvironmentSettings>,
    ) -> Result<Self> {
        aquifer_table::StreamTableEnvironment::create_with_factories(env, settings, factories())
            .map(StreamTableEnvironment)
    }
}

/// Tables and SQL without data streams, with the built-in connectors and formats: see
/// [`aquifer_table::TableEnvironment`], to which it dereferences.
#[derive(Clone)]
pub struct TableEnvironment(aquifer_table::TableEnvironment);

impl Deref for TableEnvironment {
    type Target = aquifer_table::TableEnvironment;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TableEnvironment {
    /// An environment of its own; workers and processes are read from the command line.
    ///
    /// # Errors
    /// `cluster.argument`, `configuration.*`, `validation.invalid_option`.
    pub fn create(settings: impl Into<EnvironmentSettings>) -> Result<Self> {
        aquifer_table::TableEnvironment::create_with_factories(settings, factories())
            .map(TableEnvironment)
    }
}

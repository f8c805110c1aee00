//! Configuration from maps, files and the environment. Everything that comes in here is checked against
//! the lists of known options.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::options::OPTIONS;
use super::{AnyConfigOption, Configuration, ConfigurationError, OptionList, near_names};
use crate::error::{Result, RuntimeError, WithPath};

/// First part of the names of our environment variables.
const PREFIX: &str = "AQUIFER_";

/// Variables that are no options: those that [`ClusterSpec`](crate::cluster::ClusterSpec) reads, and the
/// number of the attempt and where it starts from, as set by the launcher.
pub const RESERVED_VARIABLES: &[&str] = &[
    "AQUIFER_ATTEMPT",
    "AQUIFER_HOSTFILE",
    "AQUIFER_HOSTS",
    "AQUIFER_PROCESS",
    "AQUIFER_PROCESSES",
    "AQUIFER_RECOVER",
    "AQUIFER_SECRET",
    "AQUIFER_SECRET_FILE",
    "AQUIFER_WORKERS",
];

impl Configuration {
    /// A configuration from keys and values, checked against the options of the runtime.
    ///
    /// # Errors
    /// `configuration.unknown_option` with near names, `configuration.invalid_value`.
    pub fn from_map<K: Into<String>, V: Into<String>>(
        values: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self> {
        Self::from_map_with(values, &[])
    }

    /// As [`from_map`](Self::from_map), with further lists of known options (of the table layer, say).
    ///
    /// # Errors
    /// `configuration.unknown_option` with near names, `configuration.invalid_value`.
    pub fn from_map_with<K: Into<String>, V: Into<String>>(
        values: impl IntoIterator<Item = (K, V)>,
        further: &[&OptionList],
    ) -> Result<Self> {
        let mut config = Self::new();
        for (key, value) in values {
            config.set_text(key, value);
        }
        config.check(further)?;
        Ok(config)
    }

    /// Checks every key and value against the options of the runtime and `further` lists.
    ///
    /// # Errors
    /// `configuration.unknown_option` with near names, `configuration.invalid_value`.
    pub fn check(&self, further: &[&OptionList]) -> Result<()> {
        for (key, value) in self.iter() {
            find(key, further)?.check(value)?;
        }
        Ok(())
    }

    /// Reads a file of `key: value` lines: Flink's `config.yaml` in its flat form. `#` starts a comment,
    /// values may stand in single or double quotes.
    ///
    /// # Errors
    /// `io.failed`, `configuration.syntax`, and those of [`from_map`](Self::from_map).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file_with(path, &[])
    }

    /// As [`from_file`](Self::from_file), with further lists of known options.
    ///
    /// # Errors
    /// `io.failed`, `configuration.syntax`, and those of [`from_map`](Self::from_map).
    pub fn from_file_with(path: impl AsRef<Path>, further: &[&OptionList]) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).with_path(path)?;
        let mut values = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let entry = parse_line(line).and_then(|entry| match entry {
                Some((key, _)) if values.contains_key(&key) => Err(format!(
                    "option '{key}' is set twice; remove one of the lines"
                )),
                entry => Ok(entry),
            });
            match entry {
                Ok(Some((key, value))) => values.insert(key, value),
                Ok(None) => None,
                Err(reason) => {
                    return Err(ConfigurationError::Syntax {
                        path: path.display().to_string(),
                        line: index + 1,
                        reason,
                    }
                    .into());
                }
            };
        }
        Self::from_map_with(values, further)
    }

    /// Reads the process's environment: `AQUIFER_` and the key in upper case with `_` for `.` and `-`,
    /// as in `AQUIFER_PIPELINE_MAX_IN_FLIGHT_EPOCHS`.
    ///
    /// A variable that looks like a mistyped option is an error; others are not ours (an orchestrator
    /// may add some with our prefix) and are left alone.
    ///
    /// # Errors
    /// `configuration.unknown_option`, `configuration.invalid_value`.
    pub fn from_env() -> Result<Self> {
        let variables = std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        Self::from_variables(variables, &[])
    }

    /// As [`from_env`](Self::from_env), from given variables and with further lists of known options.
    ///
    /// # Errors
    /// `configuration.unknown_option`, `configuration.invalid_value`.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (String, String)>,
        further: &[&OptionList],
    ) -> Result<Self> {
        let names: BTreeMap<String, &'static str> = known(further)
            .map(|option| (variable_name(option.key()), option.key()))
            .collect();
        let mut values = Vec::new();
        for (name, value) in variables {
            if !name.starts_with(PREFIX) || RESERVED_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            if let Some(key) = names.get(&name) {
                values.push((*key, value));
                continue;
            }
            let word = &name[PREFIX.len()..];
            let near = near_names(word, names.keys().map(|known| &known[PREFIX.len()..]));
            if !near.is_empty() {
                let near = near.into_iter().map(|word| format!("{PREFIX}{word}"));
                return Err(ConfigurationError::UnknownOption {
                    key: name,
                    near: near.collect(),
                }
                .into());
            }
        }
        Self::from_map_with(values, further)
    }
}

fn known<'a>(
    further: &'a [&OptionList],
) -> impl Iterator<Item = &'static dyn AnyConfigOption> + 'a {
    OPTIONS
        .iter()
        .copied()
        .chain(further.iter().flat_map(|list| list.iter().copied()))
}

fn find(key: &str, further: &[&OptionList]) -> Result<&'static dyn AnyConfigOption> {
    known(further)
        .find(|option| option.key() == key)
        .ok_or_else(|| {
            RuntimeError::from(ConfigurationError::UnknownOption {
                key: key.to_owned(),
                near: near_names(key, known(further).map(|option| option.key())),
            })
        })
}

fn variable_name(key: &str) -> String {
    let word: String = key
        .chars()
        .map(|c| match c {
            '.' | '-' => '_',
            c => c.to_ascii_uppercase(),
        })
        .collect();
    format!("{PREFIX}{word}")
}

/// One line of a configuration file; `None` when it holds nothing.
fn parse_line(line: &str) -> Result<Option<(String, String)>, String> {
    let content = line.trim();
    if content.is_empty() || content.starts_with('#') || content == "---" {
        return Ok(None);
    }
    if line.starts_with([' ', '\t']) {
        return Err(
            "the line is indented; write the whole key on one line, as in 'pipeline.name: orders'"
                .to_owned(),
        );
    }
    let (key, value) = content
        .split_once(':')
        .filter(|(_, value)| value.is_empty() || value.starts_with([' ', '\t']))
        .ok_or("write 'key: value' with a space behind the colon")?;
    let key = key.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(format!("'{key}' is no key"));
    }
    let value = parse_scalar(value.trim())?;
    if value.is_empty() {
        return Err(format!("option '{key}' has no value"));
    }
    Ok(Some((key.to_owned(), value)))
}

/// A plain or quoted YAML scalar, without the comment behind it.
fn parse_scalar(text: &str) -> Result<String, String> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let end = text.find(" #").unwrap_or(text.len());
        let end = if text.starts_with('#') { 0 } else { end };
        return Ok(text[..end].trim_end().to_owned());
    };
    let mut value = String::new();
    let mut rest = text[1..].chars();
    while let Some(c) = rest.next() {
        if c == quote {
            if quote == '\'' && rest.as_str().starts_with('\'') {
                rest.next();
                value.push('\'');
                continue;
            }
            let behind = rest.as_str().trim_start();
            return if behind.is_empty() || behind.starts_with('#') {
                Ok(value)
            } else {
                Err(format!("'{behind}' stands behind the closing quote"))
            };
        }
        if c == '\\' && quote == '"' {
            value.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(c @ ('"' | '\\' | '/')) => c,
                _ => return Err("only \\n, \\t, \\\" and \\\\ are known escapes".to_owned()),
            });
        } else {
            value.push(c);
        }
    }
    Err("the closing quote is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Configuration> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        fs::write(&path, text).unwrap();
        Configuration::from_file(&path)
    }

    #[test]
    fn flat_file() {
        let config = load(
            "# my job\n\npipeline.name: 'it''s mine' # name\nparallelism.default: 2\n\
             execution.checkpointing.dir: \"/tmp/a \\\"b\\\"\"\ncluster.hosts: a:1;b:2 # two\n",
        )
        .unwrap();
        let lines: Vec<_> = config.iter().collect();
        assert_eq!(
            lines,
            [
                ("cluster.hosts", "a:1;b:2"),
                ("execution.checkpointing.dir", "/tmp/a \"b\""),
                ("parallelism.default", "2"),
                ("pipeline.name", "it's mine"),
            ]
        );
    }

    #[test]
    fn bad_files() {
        let check = |text: &str, code: &str, part: &str| {
            let error = load(text).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(error.to_string().contains(part), "{error}");
        };
        check("pipeline:\n", "configuration.syntax", "has no value");
        check(
            "pipeline.name: a\n  x: 1\n",
            "configuration.syntax",
            "line 2",
        );
        check("pipeline.name=a\n", "configuration.syntax", "key: value");
        check(
            "pipeline.name: 'a\n",
            "configuration.syntax",
            "closing quote",
        );
        check(
            "pipeline.name: a\npipeline.name: b\n",
            "configuration.syntax",
            "set twice",
        );
        check(
            "pipeline.nmae: a\n",
            "configuration.unknown_option",
            "did you mean 'pipeline.name'?",
        );
        check(
            "pipeline.max-in-flight-epochs: 0\n",
            "configuration.invalid_value",
            "whole number from 1",
        );
        check(
            "execution.checkpointing.dir: s3://bucket/x\n",
            "configuration.invalid_value",
            "scheme 's3'",
        );
    }

    #[test]
    fn variables() {
        let vars = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect()
        };
        let config = Configuration::from_variables(
            vars(&[
                ("AQUIFER_PIPELINE_MAX_IN_FLIGHT_EPOCHS", "4"),
                ("AQUIFER_SERVICE_HOST", "10.0.0.1"),
                ("AQUIFER_PROCESS", "1"),
                ("PATH", "/bin"),
            ]),
            &[],
        )
        .unwrap();
        assert_eq!(
            config.iter().collect::<Vec<_>>(),
            [("pipeline.max-in-flight-epochs", "4")]
        );
        let error =
            Configuration::from_variables(vars(&[("AQUIFER_PIPELINE_NAM", "x")]), &[]).unwrap_err();
        assert!(
            error.to_string().contains("'AQUIFER_PIPELINE_NAME'"),
            "{error}"
        );
    }
}

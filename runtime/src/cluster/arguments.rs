//! What a process knows about its cluster, from program arguments, the environment and the configuration.
//!
//! The flags are timely's: `-n processes -p index -w workers -h hostfile`, with the long forms
//! `--processes`, `--process`, `--workers`, `--hostfile`. They may stand anywhere before a `--` and are
//! taken out; all other arguments belong to the program and stay in their order. A flag wins over a
//! variable (`AQUIFER_PROCESSES`, ..), a variable over the configuration.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ClusterError, Secret};
use crate::config::{Configuration, options};
use crate::error::{Result, WithPath};

/// Port of process 0 when no hosts are given; process i has the i-th port behind it.
const FIRST_PORT: usize = 2101;

/// What one process must know to come together with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSpec {
    /// Worker threads in each process.
    pub workers_per_process: usize,
    /// Index of this process.
    pub process: usize,
    /// Addresses (host:port) of all processes in the order of their indexes. This process listens on
    /// its own.
    pub addresses: Vec<String>,
    /// The shared secret.
    pub secret: Option<Secret>,
    /// How long to wait for the others.
    pub connect_timeout: Duration,
}

impl ClusterSpec {
    /// A cluster of one process.
    #[must_use]
    pub fn single(workers: usize) -> Self {
        Self {
            workers_per_process: workers.max(1),
            process: 0,
            addresses: vec![format!("127.0.0.1:{FIRST_PORT}")],
            secret: None,
            connect_timeout: Duration::from_secs(30),
        }
    }

    /// Number of processes.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.addresses.len()
    }

    /// Number of workers in all processes.
    #[must_use]
    pub fn total_workers(&self) -> usize {
        self.workers_per_process * self.processes()
    }

    /// Reads this process's arguments and environment, over `config`. The second value holds the
    /// arguments that are not ours, the program's name first.
    ///
    /// # Errors
    /// `cluster.argument`, `configuration.invalid_value`, `io.failed`.
    pub fn from_process(config: &Configuration) -> Result<(Self, Vec<String>)> {
        let arguments = std::env::args_os().map(|a| a.to_string_lossy().into_owned());
        let (flags, rest) = ClusterArguments::from_arguments(arguments)?;
        let variables = ClusterArguments::from_variables(|name| std::env::var(name).ok())?;
        Ok((flags.or(variables).resolve(config)?, rest))
    }
}

/// A value together with where the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given<V> {
    value: V,
    origin: String,
}

/// What arguments or variables say about the cluster; each part may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterArguments {
    processes: Option<Given<usize>>,
    process: Option<Given<usize>>,
    workers: Option<Given<usize>>,
    hosts: Option<Given<Vec<String>>>,
    host_file: Option<PathBuf>,
    secret: Option<Secret>,
}

impl ClusterArguments {
    /// Takes the cluster's flags out of program arguments (the program's name first) and gives the rest.
    ///
    /// # Errors
    /// `cluster.argument` when a flag has no value, a bad one, or is given twice.
    pub fn from_arguments(
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>)> {
        const FLAGS: [(&str, &str); 4] = [
            ("-n", "--processes"),
            ("-p", "--process"),
            ("-w", "--workers"),
            ("-h", "--hostfile"),
        ];
        let mut found = Self::default();
        let mut seen = BTreeSet::new();
        let mut arguments = arguments.into_iter();
        let mut rest: Vec<String> = arguments.next().into_iter().collect();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                rest.push(argument);
                rest.extend(arguments.by_ref());
                break;
            }
            let Some((short, attached)) = FLAGS.iter().find_map(|(short, long)| {
                if argument == *short || argument == *long {
                    return Some((*short, None));
                }
                let value = argument.strip_prefix(long)?.strip_prefix('=')?;
                Some((*short, Some(value.to_owned())))
            }) else {
                rest.push(argument);
                continue;
            };
            let flag = argument.split('=').next().unwrap_or_default().to_owned();
            if !seen.insert(short) {
                return Err(wrong(flag, "it is given twice").into());
            }
            let value = attached
                .or_else(|| arguments.next())
                .ok_or_else(|| wrong(flag.clone(), "a value must follow"))?;
            match short {
                "-n" => found.processes = Some(number(flag, &value)?),
                "-p" => found.process = Some(number(flag, &value)?),
                "-w" => found.workers = Some(number(flag, &value)?),
                _ => found.host_file = Some(PathBuf::from(value)),
            }
        }
        Ok((found, rest))
    }

    /// Reads the variables `AQUIFER_PROCESSES`, `_PROCESS`, `_WORKERS`, `_HOSTS` (separated by commas,
    /// semicolons or white space), `_HOSTFILE`, `_SECRET`, `_SECRET_FILE` through `variable`.
    ///
    /// # Errors
    /// `cluster.argument`, `io.failed` when the secret's file cannot be read.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let read = |name: &str| -> Result<Option<Given<usize>>> {
            Ok(match variable(name) {
                Some(value) => Some(number(name.to_owned(), &value)?),
                None => None,
            })
        };
        let hosts = variable("AQUIFER_HOSTS").map(|text| Given {
            value: text
                .split(|c: char| matches!(c, ',' | ';') || c.is_whitespace())
                .filter(|host| !host.is_empty())
                .map(ToOwned::to_owned)
                .collect(),
            origin: "AQUIFER_HOSTS".to_owned(),
        });
        let secret = match (variable("AQUIFER_SECRET"), variable("AQUIFER_SECRET_FILE")) {
            (Some(_), Some(_)) => {
                return Err(wrong(
                    "AQUIFER_SECRET".to_owned(),
                    "AQUIFER_SECRET_FILE is set as well; set one of them",
                )
                .into());
            }
            (Some(text), None) => Some(Secret::new(text, "AQUIFER_SECRET")?),
            (None, Some(path)) => Some(Secret::from_file(path)?),
            (None, None) => None,
        };
        Ok(Self {
            processes: read("AQUIFER_PROCESSES")?,
            process: read("AQUIFER_PROCESS")?,
            workers: read("AQUIFER_WORKERS")?,
            hosts,
            host_file: variable("AQUIFER_HOSTFILE").map(PathBuf::from),
            secret,
        })
    }

    /// Fills what is absent here from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        // Hosts and host file are one thing said in two ways: the stronger origin wins as a whole.
        let (hosts, host_file) = if self.hosts.is_some() || self.host_file.is_some() {
            (self.hosts, self.host_file)
        } else {
            (other.hosts, other.host_file)
        };
        Self {
            processes: self.processes.or(other.processes),
            process: self.process.or(other.process),
            workers: self.workers.or(other.workers),
            hosts,
            host_file,
            secret: self.secret.or(other.secret),
        }
    }

    /// Fills what is absent from `config` and checks that everything fits together.
    ///
    /// # Errors
    /// `cluster.argument`, `configuration.invalid_value`,
    /// `configuration.conflict`, `io.failed`.
    pub fn resolve(self, config: &Configuration) -> Result<ClusterSpec> {
        let workers = match self.workers {
            Some(given) => at_least_one(&given)?,
            None => config.get(&options::CLUSTER_WORKERS)?.get(),
        };
        let hosts = match (self.host_file, self.hosts) {
            (Some(path), _) => Some(read_host_file(&path)?),
            (None, Some(hosts)) => Some(hosts),
            (None, None) => config.get(&options::CLUSTER_HOSTS)?.map(|value| Given {
                value,
                origin: "option 'cluster.hosts'".to_owned(),
            }),
        };
        let processes = match (&self.processes, &hosts) {
            (Some(given), _) => at_least_one(given)?,
            (None, Some(hosts)) if !config.contains(&options::CLUSTER_PROCESSES) => {
                hosts.value.len().max(1)
            }
            (None, _) => config.get(&options::CLUSTER_PROCESSES)?.get(),
        };
        let process = match self.process {
            Some(given) => given,
            None => Given {
                value: config.get(&options::CLUSTER_PROCESS)?,
                origin: "option 'cluster.process'".to_owned(),
            },
        };
        if process.value >= processes {
            return Err(wrong(
                process.origin,
                format!(
                    "process {} does not exist among {processes} processes; indexes go from 0 to {}",
                    process.value,
                    processes - 1
                ),
            )
            .into());
        }
        Ok(ClusterSpec {
            workers_per_process: workers,
            process: process.value,
            addresses: addresses(hosts, processes, config)?,
            secret: match self.secret {
                Some(secret) => Some(secret),
                None => secret_from(config)?,
            },
            connect_timeout: config.get(&options::CLUSTER_CONNECT_TIMEOUT)?,
        })
    }
}

fn wrong(argument: String, reason: impl Into<String>) -> ClusterError {
    ClusterError::Argument {
        argument,
        reason: reason.into(),
    }
}

fn number(origin: String, text: &str) -> Result<Given<usize>> {
    match text.trim().parse() {
        Ok(value) => Ok(Given { value, origin }),
        Err(_) => Err(wrong(origin, format!("'{text}' is not a whole number")).into()),
    }
}

fn at_least_one(given: &Given<usize>) -> Result<usize> {
    NonZeroUsize::new(given.value)
        .map(NonZeroUsize::get)
        .ok_or_else(|| wrong(given.origin.clone(), "it must be at least 1").into())
}

/// One address per line; empty lines and lines that start with `#` do not count.
fn read_host_file(path: &Path) -> Result<Given<Vec<String>>> {
    let text = fs::read_to_string(path).with_path(path)?;
    let value = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(ToOwned::to_owned)
        .collect();
    Ok(Given {
        value,
        origin: path.display().to_string(),
    })
}

fn addresses(
    hosts: Option<Given<Vec<String>>>,
    processes: usize,
    config: &Configuration,
) -> Result<Vec<String>> {
    let Some(hosts) = hosts else {
        let host = config.get(&options::CLUSTER_BIND_ADDRESS)?;
        let host = if host.contains(':') && !host.starts_with('[') {
            format!("[{host}]")
        } else {
            host
        };
        return Ok((0..processes)
            .map(|index| format!("{host}:{}", FIRST_PORT + index))
            .collect());
    };
    if hosts.value.len() < processes {
        return Err(wrong(
            hosts.origin,
            format!(
                "{} addresses for {processes} processes; give one address (host:port) per process",
                hosts.value.len()
            ),
        )
        .into());
    }
    let addresses: Vec<String> = hosts.value.into_iter().take(processes).collect();
    let mut seen = BTreeSet::new();
    for address in &addresses {
        let port = address
            .rsplit_once(':')
            .filter(|(host, _)| !host.is_empty());
        if port.is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(wrong(
                hosts.origin,
                format!("'{address}' is not of the form host:port"),
            )
            .into());
        }
        if processes > 1 && !seen.insert(address) {
            return Err(wrong(
                hosts.origin,
                format!("address '{address}' stands there twice"),
            )
            .into());
        }
    }
    Ok(addresses)
}

fn secret_from(config: &Configuration) -> Result<Option<Secret>> {
    match (
        config.get(&options::CLUSTER_SECRET)?,
        config.get(&options::CLUSTER_SECRET_FILE)?,
    ) {
        (Some(_), Some(_)) => Err(wrong(
            "option 'cluster.secret'".to_owned(),
            "option 'cluster.secret-file' is set as well; set one of them",
        )
        .into()),
        (Some(text), None) => Secret::new(text, "option 'cluster.secret'").map(Some),
        (None, Some(path)) => Secret::from_file(path).map(Some),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RuntimeError;

    fn parse(arguments: &str) -> Result<(ClusterSpec, Vec<String>)> {
        let words = std::iter::once("program")
            .chain(arguments.split_whitespace())
            .map(ToOwned::to_owned);
        let (found, rest) = ClusterArguments::from_arguments(words)?;
        Ok((found.resolve(&Configuration::new())?, rest))
    }

    #[test]
    fn flags_are_taken_out_and_the_rest_stays() {
        let (spec, rest) =
            parse("--input a.csv -n 2 x -w 4 --process=1 -v -- -n 7 --workers=9").unwrap();
        assert_eq!(
            (spec.workers_per_process, spec.process, spec.total_workers()),
            (4, 1, 8)
        );
        assert_eq!(spec.addresses, ["127.0.0.1:2101", "127.0.0.1:2102"]);
        assert_eq!(
            rest,
            [
                "program",
                "--input",
                "a.csv",
                "x",
                "-v",
                "--",
                "-n",
                "7",
                "--workers=9"
            ]
        );
        let (alone, rest) = parse("").unwrap();
        assert_eq!(alone, ClusterSpec::single(1));
        assert_eq!(rest, ["program"]);
    }

    #[test]
    fn bad_arguments() {
        let check = |arguments: &str, text: &str| {
            let error = parse(arguments).unwrap_err();
            assert_eq!(error.code(), "cluster.argument");
            assert_eq!(error.to_string(), text);
        };
        check("-n", "-n: a value must follow");
        check("-w many", "-w: 'many' is not a whole number");
        check("--workers=0", "--workers: it must be at least 1");
        check("-n 2 --processes 3", "--processes: it is given twice");
        check(
            "-n 2 -p 2",
            "-p: process 2 does not exist among 2 processes; indexes go from 0 to 1",
        );
        check(
            "-p 1",
            "-p: process 1 does not exist among 1 processes; indexes go from 0 to 0",
        );
    }

    #[test]
    fn host_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        let check = |content: &str, n: usize| -> Result<Vec<String>, RuntimeError> {
            fs::write(&path, content).unwrap();
            parse(&format!("-n {n} -h {}", path.display())).map(|(spec, _)| spec.addresses)
        };
        assert_eq!(
            check("# mine\na:1\n\n b:2 \nc:3\n", 2).unwrap(),
            ["a:1", "b:2"]
        );
        for (content, part) in [
            ("a:1\n", "1 addresses for 2 processes"),
            ("a:1\nb\n", "'b' is not of the form host:port"),
            ("a:1\nb:99999\n", "'b:99999' is not"),
            ("a:1\na:1\n", "stands there twice"),
        ] {
            let error = check(content, 2).unwrap_err();
            assert_eq!(error.code(), "cluster.argument");
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.to_string().contains("hosts"), "{error}");
        }
        assert_eq!(
            parse("-n 2 -h /no/such/file").unwrap_err().code(),
            "io.failed"
        );
    }

    #[test]
    fn flags_win_over_variables_and_those_over_options() {
        let variables = |name: &str| {
            Some(
                match name {
                    "AQUIFER_PROCESSES" => "3",
                    "AQUIFER_PROCESS" => "2",
                    "AQUIFER_HOSTS" => "a:1, b:2;c:3",
                    "AQUIFER_SECRET" => "hunter2",
                    _ => return None,
                }
                .to_owned(),
            )
        };
        let mut config = Configuration::new();
        config
            .set_text("cluster.workers", "5")
            .set_text("cluster.processes", "9");
        let words = ["program", "-p", "1"].map(ToOwned::to_owned);
        let (flags, _) = ClusterArguments::from_arguments(words).unwrap();
        let variables = ClusterArguments::from_variables(variables).unwrap();
        let spec = flags.or(variables).resolve(&config).unwrap();
        assert_eq!(
            (spec.workers_per_process, spec.process, spec.processes()),
            (5, 1, 3)
        );
        assert_eq!(spec.addresses, ["a:1", "b:2", "c:3"]);
        assert!(spec.secret.is_some());
        assert!(!format!("{spec:?}").contains("hunter2"));
    }

    #[test]
    fn one_secret_only() {
        let error = ClusterArguments::from_variables(|name| {
            name.contains("SECRET").then(|| "x".to_owned())
        })
        .unwrap_err();
        assert_eq!(error.code(), "cluster.argument");
        let mut config = Configuration::new();
        config.set_text("cluster.secret", "");
        assert_eq!(
            ClusterArguments::default()
                .resolve(&config)
                .unwrap_err()
                .code(),
            "cluster.argument"
        );
    }
}

//! Every dependency has a licence that `deny.toml` allows and comes from the public registry.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Where a dependency may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The strings of the list `licenses.allow` in `deny.toml`.
fn allowed() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = text.split_once("\nallow = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(ToOwned::to_owned)
        .collect()
}

/// What `cargo metadata` says about this machine's dependencies: others are not downloaded.
fn packages() -> Vec<Value> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let output = Command::new(&cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata failed: {errors}");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("no list of packages but {other}"),
    }
}

/// Whether an SPDX expression can be met with the allowed licences. `/` is an old way to write `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = either(&mut rest, allowed);
    met && rest.is_empty()
}

fn either(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = both(words, allowed);
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match **words {
        ["(", ref rest @ ..] => {
            *words = rest;
            let met = either(words, allowed);
            match words.split_first() {
                Some((&")", rest)) => *words = rest,
                _ => return false,
            }
            met
        }
        [licence, "WITH", exception, ref rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{licence} WITH {exception}"))
        }
        [licence, ref rest @ ..] => {
            *words = rest;
            allowed.contains(licence)
        }
        [] => false,
    }
}

#[test]
fn licences() {
    let allowed = allowed();
    let mut faults = BTreeMap::new();
    let packages = packages();
    assert!(packages.len() > 50, "too few packages to be the whole tree");
    for package in &packages {
        let name = format!("{} {}", package["name"], package["version"]);
        match package["license"].as_str() {
            Some(licence) if is_met(licence, &allowed) => {}
            licence => {
                faults.insert(name.clone(), format!("licence {licence:?} is not allowed"));
            }
        }
        if let Some(source) = package["source"].as_str()
            && source != REGISTRY
        {
            faults.insert(name, format!("comes from {source}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn licence_expressions() {
    let allowed = BTreeSet::from(["MIT", "Zlib", "A WITH e"].map(ToOwned::to_owned));
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("Zlib AND MIT", true),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND GPL-3.0", false),
        ("GPL-3.0 OR MIT AND Zlib", true),
        ("A WITH e", true),
        ("A", false),
        ("MIT WITH e", false),
        ("(MIT", false),
        ("", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

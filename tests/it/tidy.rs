//! Module headers, the direction of dependencies, and the promises of the README.

use std::fs;
use std::path::{Path, PathBuf};

/// The packages from the bottom up; each may use those before it, besides the pairs in [`FORBIDDEN`].
const LAYERS: &[(&str, &str)] = &[
    ("aquifer-runtime", "runtime"),
    ("aquifer-types", "table/types"),
    ("aquifer-functions", "table/functions"),
    ("aquifer-operators", "table/operators"),
    ("aquifer-table-common", "table/common"),
    ("aquifer-planner", "table/planner"),
    ("aquifer-table", "table/api"),
    ("aquifer-formats", "connectors/formats"),
    ("aquifer-connectors", "connectors/builtin"),
    ("aquifer-cli", "cli"),
];

/// Packages on the left know nothing of those on the right although these come before them.
const FORBIDDEN: &[(&str, &str)] = &[
    ("aquifer-formats", "aquifer-planner"),
    ("aquifer-formats", "aquifer-table"),
    ("aquifer-connectors", "aquifer-planner"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    let mut files = Vec::new();
    for (_, folder) in LAYERS {
        rust_files(&root().join(folder).join("src"), &mut files);
    }
    for folder in ["src", "examples", "benches"] {
        rust_files(&root().join(folder), &mut files);
    }
    assert!(files.len() > LAYERS.len());
    let silent: Vec<&PathBuf> = files
        .iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .collect();
    assert!(silent.is_empty(), "no '//!' header: {silent:#?}");
}

#[test]
fn dependencies_point_down() {
    for (rank, (package, folder)) in LAYERS.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let (_, dependencies) = manifest
            .split_once("\n[dependencies]")
            .unwrap_or((&manifest, ""));
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies
            .lines()
            .filter(|line| line.starts_with("aquifer-"))
        {
            let name = line.split(['.', ' ', '=']).next().unwrap();
            let other = LAYERS.iter().position(|(layer, _)| *layer == name);
            let other = other.unwrap_or_else(|| panic!("{name} is missing in LAYERS"));
            assert!(
                other < rank && !FORBIDDEN.contains(&(package, name)),
                "{package} must not use {name}"
            );
        }
    }
}

#[test]
fn every_example_has_its_expected_output() {
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let example = entry.unwrap().path();
        if example
            .extension()
            .is_none_or(|extension| extension != "rs")
        {
            continue;
        }
        let name = example.file_stem().unwrap().to_str().unwrap();
        let expected = root().join(format!("examples/expected/{name}.txt"));
        assert!(expected.is_file(), "{} is missing", expected.display());
    }
}

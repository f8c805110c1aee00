//! Counts the words of a book.
//!
//! ```sh
//! cargo run --release --example word_count
//! cargo run --release --example word_count -- -w 2 my_text.txt
//! ```
//!
//! The lines of the file become words, each word goes to the worker that owns it, and every worker keeps the
//! running counts of its words. The stream of running counts is brought together in process 0, whose last entry
//! for each word is the answer.

#![expect(clippy::print_stdout, reason = "a program speaks by its output")]

use std::collections::BTreeMap;

use aquifer::prelude::*;

/// *Alice's Adventures in Wonderland*, see `examples/data/README.md`.
const ALICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/alice.txt");

fn main() -> Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    let path = env.arguments().first().map_or(ALICE, String::as_str);

    let counts = env
        .read_text_file(path)
        .flat_map(|line| words(&line))
        .map(|word| (word, 1_u64))
        .key_by(|(word, _)| word.clone())
        .reduce(|(word, a), (_, b)| (word, a + b));

    let mut last = BTreeMap::new();
    for count in counts.execute_and_collect()? {
        let (word, count) = count?;
        last.insert(word, count);
    }
    if env.process() == 0 {
        report(&last);
    }
    Ok(())
}

fn words(line: &str) -> Vec<String> {
    line.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn report(counts: &BTreeMap<String, u64>) {
    let total: u64 = counts.values().sum();
    println!("{total} words, {} different", counts.len());
    let mut ranked: Vec<(&String, &u64)> = counts.iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (word, count) in ranked.iter().take(15) {
        println!("{count:6} {word}");
    }
}

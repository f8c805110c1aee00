//! Runs the variants of a workload in turns and compares them.
//!
//! What is compared is the CPU time of the whole process, kernel time included, so that other load on the machine
//! matters little. The variants take turns, and a ratio is the median of the ratios of single rounds, so that a machine
//! that gets slower in between harms all alike. All variants must give the same [`Digest`], else the bench fails.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How much work is done.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
}

impl Scale {
    pub(crate) fn new(quick: bool) -> Self {
        Scale {
            quick,
            rounds: if quick { 3 } else { 9 },
        }
    }

    /// `full` rows, or a quarter of them in a quick run.
    pub(crate) fn rows(self, full: usize) -> usize {
        if self.quick { full / 4 } else { full }
    }
}

/// Stands for a set of rows, whatever their order: their number and the sum of their hashes.
/// Retractions take away what insertions add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) rows: u64,
    pub(crate) sum: u64,
}

impl Digest {
    /// Takes in a row that consists of these words.
    #[inline]
    pub(crate) fn add<const N: usize>(&mut self, words: [u64; N]) {
        self.add_weighted(words, 1);
    }

    /// Takes in a row so many times; takes it away when the weight is negative.
    #[inline]
    pub(crate) fn add_weighted<const N: usize>(&mut self, words: [u64; N], weight: i64) {
        self.add_hash(words.into_iter().fold(0, Digest::mix), weight);
    }

    /// As [`add_weighted`](Self::add_weighted), for the words' hash: a fold of [`mix`](Self::mix).
    #[inline]
    pub(crate) fn add_hash(&mut self, hash: u64, weight: i64) {
        self.rows = self.rows.wrapping_add_signed(weight);
        self.sum = self.sum.wrapping_add(hash.wrapping_mul(weight as u64));
    }

    #[inline]
    pub(crate) fn mix(hash: u64, word: u64) -> u64 {
        (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    pub(crate) fn merge(&mut self, other: Digest) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// A digest that many threads add to.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<Digest>>);

impl Tally {
    pub(crate) fn merge(&self, part: Digest) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .merge(part);
    }

    pub(crate) fn total(&self) -> Digest {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a piece of work cost.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
}

/// CPU time of this process so far.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

pub(crate) fn measured<R>(work: impl FnOnce() -> R) -> (Cost, R) {
    let (cpu, wall) = (cpu_time(), Instant::now());
    let result = work();
    let cost = Cost {
        cpu: cpu_time() - cpu,
        wall: wall.elapsed(),
    };
    (cost, result)
}

/// One way to do a workload. Making the inputs is not part of it.
pub(crate) struct Variant<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn Fn() -> Digest + 'a>,
}

impl<'a> Variant<'a> {
    pub(crate) fn new(name: &'static str, run: impl Fn() -> Digest + 'a) -> Self {
        Variant {
            name,
            run: Box::new(run),
        }
    }
}

/// Runs a workload and prints a line per variant. The first one is what the others are compared with.
pub(crate) fn compare(workload: &str, rows: usize, scale: Scale, variants: &[Variant<'_>]) {
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); variants.len()];
    let expected = (variants[0].run)();
    for _ in 0..scale.rounds {
        for (variant, costs) in variants.iter().zip(&mut costs) {
            let (cost, digest) = measured(&variant.run);
            assert_eq!(
                digest, expected,
                "{workload}: '{}' gives another result than '{}'",
                variant.name, variants[0].name
            );
            costs.push(cost);
        }
    }
    for (index, variant) in variants.iter().enumerate() {
        let mut ratios: Vec<f64> = costs[index]
            .iter()
            .zip(&costs[0])
            .map(|(own, base)| own.cpu.as_secs_f64() / base.cpu.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let best = costs[index].iter().map(|cost| cost.cpu.as_nanos()).min();
        let cpu = best.unwrap_or(0) as f64 / rows as f64;
        println!(
            "{workload:<24} {:<20} {rows:>9} rows {cpu:>8.1} CPU ns/row {:>6.2} x",
            variant.name,
            ratios[ratios.len() / 2],
        );
    }
}

/// Prints a figure that is not a ratio, with its goal.
pub(crate) fn figure(workload: &str, variant: &str, text: &str, goal: &str) {
    println!("{workload:<24} {variant:<20} {text}  (goal: {goal})");
}

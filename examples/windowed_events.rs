//! Counts delayed flights per airport and hour of *scheduled* departure, although the flights come in the order in
//! which they really departed.
//!
//! ```sh
//! cargo run --release --example windowed_events
//! ```
//!
//! The event time of a flight is its scheduled departure, so a delayed flight comes late. The watermark follows the
//! highest time seen at a distance of one hour: windows stay open that long. Flights that are later still are not
//! dropped but go to a side output.
//!
//! Which flights are too late depends on when the watermark is read, that is on the epochs: here each has 100 lines
//! of the file, so every run gives the same answer.

#![expect(clippy::print_stdout, reason = "a program speaks by its output")]

#[path = "flights/mod.rs"]
mod flights;

use std::time::Duration;

use aquifer::prelude::*;
use chrono::DateTime;
use serde::{Deserialize, Serialize};

use flights::{FLIGHTS, Flight};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// What the job answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Answer {
    Hour(Hour),
    TooLate(Flight),
}

/// The flights of one airport in one hour.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Hour {
    origin: String,
    start: i64,
    counts: Counts,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Counts {
    flights: u32,
    delayed: u32,
    cancelled: u32,
}

/// Aggregates flights to [`Counts`].
#[derive(Clone)]
struct Count;

impl AggregateFunction<Flight> for Count {
    type Accumulator = Counts;
    type Output = Counts;

    fn create_accumulator(&self) -> Counts {
        Counts::default()
    }

    fn add(&self, flight: Flight, counts: &mut Counts) {
        counts.flights += 1;
        counts.delayed += u32::from(flight.departure_delay.is_some_and(|minutes| minutes >= 15));
        counts.cancelled += u32::from(flight.departure_delay.is_none());
    }

    fn result(&self, counts: &Counts) -> Counts {
        counts.clone()
    }

    fn merge(&self, counts: &mut Counts, later: Counts) {
        counts.flights += later.flights;
        counts.delayed += later.delayed;
        counts.cancelled += later.cancelled;
    }
}

/// Adds key and window to the counts.
#[derive(Clone)]
struct Label;

impl ProcessWindowFunction<Counts, Answer, String, TimeWindow> for Label {
    fn process(
        &mut self,
        origin: &String,
        context: &mut WindowContext<'_, TimeWindow>,
        counts: &[Counts],
        out: &mut Collector<Answer>,
    ) -> Result<()> {
        for counts in counts {
            out.collect(Answer::Hour(Hour {
                origin: origin.clone(),
                start: context.window().start,
                counts: counts.clone(),
            }));
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    env.configure(&Configuration::from_map([(
        "pipeline.epoch.max-rows",
        "100",
    )])?);

    let by_schedule = WatermarkStrategy::for_bounded_out_of_orderness(HOUR)
        .with_timestamp_assigner(|flight: &Flight, _| flight.scheduled_departure);
    let too_late = OutputTag::new("too late");
    let hours = env
        .read_text_file(FLIGHTS)
        .filter(|line| !Flight::is_header(line))
        .try_map(|line| Flight::parse(&line))
        .assign_timestamps_and_watermarks(by_schedule)
        .key_by(|flight| flight.origin.clone())
        .window(TumblingEventTimeWindows::of(HOUR))
        .side_output_late_data(&too_late)
        .aggregate_with(Count, Label);
    let late = hours.side_output(&too_late)?.map(Answer::TooLate);

    let (mut hours_seen, mut late_seen) = (Vec::new(), 0);
    for answer in hours.union([&late]).execute_and_collect()? {
        match answer? {
            Answer::Hour(hour) => hours_seen.push(hour),
            Answer::TooLate(_) => late_seen += 1,
        }
    }
    // Results arrive in process 0.
    if env.process() == 0 {
        report(hours_seen, late_seen);
    }
    Ok(())
}

fn report(mut hours: Vec<Hour>, late: usize) {
    let flights: u32 = hours.iter().map(|hour| hour.counts.flights).sum();
    println!(
        "{} windows of {flights} flights; {late} flights came too late",
        hours.len()
    );
    println!("the ten hours with most delayed departures:");
    hours.sort_by(|a, b| {
        let rank = |hour: &Hour| (std::cmp::Reverse(hour.counts.delayed), hour.start);
        rank(a).cmp(&rank(b)).then_with(|| a.origin.cmp(&b.origin))
    });
    for hour in hours.iter().take(10) {
        let start = DateTime::from_timestamp_millis(hour.start).unwrap_or_default();
        let Counts {
            flights,
            delayed,
            cancelled,
        } = hour.counts;
        println!(
            "{} {}: {flights} flights, {delayed} delayed, {cancelled} cancelled",
            start.format("%Y-%m-%d %H:%M:%S"),
            hour.origin
        );
    }
}

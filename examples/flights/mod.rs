//! The flights of `examples/data/flights.csv` as records of a DataStream.

use chrono::NaiveDateTime;
use serde::{Deserialize, Serialize};

/// See `examples/data/README.md`.
pub(crate) const FLIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/flights.csv");

/// One flight that was to leave New York.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Flight {
    /// Scheduled departure, local time, as in the file.
    pub(crate) scheduled: String,
    /// The same in milliseconds since 1970: the event time.
    pub(crate) scheduled_departure: i64,
    /// Minutes; `None` if the flight was cancelled.
    pub(crate) departure_delay: Option<i32>,
    /// Code of the airline.
    pub(crate) carrier: String,
    /// Airport of departure.
    pub(crate) origin: String,
    /// Airport of arrival.
    pub(crate) destination: String,
}

impl Flight {
    /// Whether a line of the file is not a flight but names the columns.
    pub(crate) fn is_header(line: &str) -> bool {
        line.starts_with("scheduled_departure,")
    }

    /// Reads one line of the file.
    ///
    /// # Errors
    /// Names the line and what is wrong with it.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[
            scheduled,
            delay,
            _,
            carrier,
            _,
            _,
            origin,
            destination,
            _,
            _,
        ] = fields.as_slice()
        else {
            return Err(format!("expected 10 fields in '{line}'"));
        };
        let time = NaiveDateTime::parse_from_str(scheduled, "%Y-%m-%d %H:%M:%S")
            .map_err(|error| format!("bad time '{scheduled}' in '{line}': {error}"))?;
        let departure_delay = match delay {
            "" => None,
            delay => Some(
                delay
                    .parse()
                    .map_err(|error| format!("bad delay '{delay}' in '{line}': {error}"))?,
            ),
        };
        Ok(Self {
            scheduled: scheduled.to_owned(),
            scheduled_departure: time.and_utc().timestamp_millis(),
            departure_delay,
            carrier: carrier.to_owned(),
            origin: origin.to_owned(),
            destination: destination.to_owned(),
        })
    }
}

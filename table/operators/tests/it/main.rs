//! Operators in jobs: several workers, exchanges through bytes, one epoch per list of rows.

mod jobs;

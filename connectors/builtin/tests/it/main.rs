//! Connectors in whole programs: files to SQL to files, crashes, restarts, what is not valid.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod changelog;
mod crash;
mod files;
mod prefixes;
mod restart;
mod support;

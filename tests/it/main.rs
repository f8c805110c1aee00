//! What holds for the repository as a whole and no compiler checks.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod architecture;
mod bad_input;
mod cases;
mod consistency;
mod licences;
mod oracle;
mod tidy;

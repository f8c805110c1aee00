//! What reads input into a job.

mod epochs;
mod source_reader;
mod split_reader;

pub use source_reader::{Boundedness, SourceFactory, SourceReader, SourceStatus};
pub use split_reader::{Source, SourceOutput, SplitReader};

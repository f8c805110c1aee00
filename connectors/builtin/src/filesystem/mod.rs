//! `filesystem`: files of a folder as a table.
//!
//! **Reading.** The option `path` names a file, or a folder that is read with all folders in it;
//! names that begin with `.` or `_` are skipped. Each worker reads some of the *splits*: whole
//! files, or ranges of a file whose records all end at line ends (`json`; `csv` with
//! `csv.disable-quote-character` and without `csv.escape-character`, because otherwise a quoted
//! field may hold a line end). A bounded source reads what was there when the job was made; with
//! `source.monitor-interval` it goes on and looks for files with new names. A file must be complete
//! when it appears (write it elsewhere and rename it) and must not change afterwards.
//!
//! **Writing.** Each worker writes part files, which become visible when the checkpoint that covers
//! them is complete, so that after a crash no row is missing or doubled. See `part_writer`.

mod factory;
mod listing;
mod metadata;
mod options;
mod part_name;
mod part_writer;
mod reader;
mod sink;
#[cfg(test)]
mod sink_tests;
mod source;
#[cfg(test)]
mod source_tests;
mod split;
mod split_file;

pub use factory::FilesystemFactory;

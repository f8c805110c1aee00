//! Formats: bytes to columns and back.
//!
//! A format owns the framing of its records, so that a CSV field may hold a line end: a decoder is
//! fed bytes and answers how many of them were whole records. The byte after them is where a
//! restart may go on.

use std::fmt;
use std::sync::Arc;

use aquifer_types::{ChangeBatch, ChangelogMode, Field};

use super::factory::wrong_role;
use crate::error::Result;
use crate::options::{OptionList, TableOptions};

/// Makes the decoding and encoding side of one format.
///
/// Options are named and given without the format's prefix: a table's `csv.field-delimiter` is the
/// option `field-delimiter` here. The registry has checked them.
pub trait FormatFactory: Send + Sync {
    /// The value of the option `format`, and the prefix of the format's options.
    fn identifier(&self) -> &'static str;

    /// What the format is, one sentence.
    fn description(&self) -> &'static str;

    /// The options that must be given, sorted by key.
    fn required_options(&self) -> &'static OptionList {
        &[]
    }

    /// The options that may be given, sorted by key.
    fn optional_options(&self) -> &'static OptionList {
        &[]
    }

    /// Makes the reading side.
    ///
    /// # Errors
    /// `validation.wrong_role` if the format only writes; options that do not fit together.
    fn create_decoding_format(&self, options: &TableOptions) -> Result<Arc<dyn DecodingFormat>> {
        let _ = options;
        Err(wrong_role("format", self.identifier(), "source"))
    }

    /// Makes the writing side.
    ///
    /// # Errors
    /// `validation.wrong_role` if the format only reads; options that do not fit together.
    fn create_encoding_format(&self, options: &TableOptions) -> Result<Arc<dyn EncodingFormat>> {
        let _ = options;
        Err(wrong_role("format", self.identifier(), "sink"))
    }
}

/// The reading side of a format.
pub trait DecodingFormat: Send + Sync {
    /// The kinds of changes its records can express.
    fn changelog_mode(&self) -> ChangelogMode;

    /// Whether a record begins after every line end, so that workers may share a large file.
    fn is_splittable(&self) -> bool {
        false
    }

    /// Makes a decoder.
    ///
    /// # Errors
    /// `unsupported.feature` if the format cannot hold a column's type.
    fn create_decoder(&self, context: &DecoderContext) -> Result<Box<dyn Decoder>>;
}

/// What a decoder shall produce.
#[derive(Debug, Clone)]
pub struct DecoderContext {
    /// The columns of the records, in order.
    pub fields: Vec<Field>,
    /// Which of them to produce, in order.
    pub projection: Vec<usize>,
}

/// Turns bytes into columns. Rows are collected until [`take`](Decoder::take).
pub trait Decoder {
    /// Begins to read `origin` (a file, a message) at byte `offset`, which is the begin of `line`
    /// (from 1). At offset 0 there may be what stands before the records, such as a header.
    fn start(&mut self, origin: &str, offset: u64, line: u64);

    /// Reads at most `max_rows` whole records from the begin of `bytes`. Without `is_end` a record
    /// at the end of `bytes` that may be cut is left; with it that record is read too.
    ///
    /// # Errors
    /// A record that is not valid, unless the format was told to skip those. Rows before it stay
    /// collected.
    fn decode(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        max_rows: usize,
    ) -> Result<Decoded, DecodeError>;

    /// The rows collected so far; the columns are those of the projection.
    fn take(&mut self) -> ChangeBatch;

    /// How many records were skipped because they were not valid, since the decoder was made.
    fn skipped(&self) -> u64;
}

/// What [`Decoder::decode`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// How many bytes were whole records.
    pub bytes: usize,
    /// How many rows they gave.
    pub rows: usize,
}

/// A record that is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// The file or message.
    pub origin: String,
    /// The line in it, from 1.
    pub line: u64,
    /// The column, if the record could be taken apart.
    pub column: Option<String>,
    /// The value, or the begin of it.
    pub value: Option<String>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read record at {}:{}", self.origin, self.line)?;
        if let Some(column) = &self.column {
            write!(f, ", column '{column}'")?;
        }
        if let Some(value) = &self.value {
            let shown: String = value.chars().take(100).collect();
            let more = if shown.len() < value.len() { "..." } else { "" };
            write!(f, ", value '{shown}{more}'")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for DecodeError {}

/// The writing side of a format.
pub trait EncodingFormat: Send + Sync {
    /// The kinds of changes its records can express.
    fn changelog_mode(&self) -> ChangelogMode;

    /// Makes an encoder for records of these columns.
    ///
    /// # Errors
    /// `unsupported.feature` if the format cannot hold a column's type.
    fn create_encoder(&self, fields: &[Field]) -> Result<Box<dyn Encoder>>;
}

/// Turns rows into bytes.
pub trait Encoder {
    /// Begins a file: appends what stands before its records.
    fn start(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Appends one record per row and unit of weight to `out`, each with its end mark.
    ///
    /// # Errors
    /// A value that the format cannot hold.
    fn encode(&mut self, batch: &ChangeBatch, out: &mut Vec<u8>) -> Result<()>;
}

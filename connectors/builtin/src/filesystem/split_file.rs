//! Reads the bytes of one split, piece by piece.
//!
//! A split in the middle of a file begins behind the first line end at or after the byte before its
//! start, and ends behind the first line end at or after its last byte: so each line belongs to the
//! split that its first byte is in.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::split::{Progress, Split};

/// Bytes read at once.
const READ_BYTES: usize = 256 << 10;

/// An open split.
pub(super) struct SplitFile {
    file: File,
    buffer: Vec<u8>,
    /// The first byte of the buffer that is not consumed.
    begin: usize,
    /// Where the first byte of the buffer stands in the file.
    base: u64,
    end: Option<u64>,
    at_end_of_file: bool,
    /// The begin of the split was not found yet.
    is_aligning: bool,
    line: u64,
}

/// What a split has to give.
pub(super) struct Piece<'a> {
    /// The bytes from the current position on.
    pub(super) bytes: &'a [u8],
    /// Nothing comes after them.
    pub(super) is_end: bool,
}

impl SplitFile {
    /// Opens a split where its progress says.
    pub(super) fn open(split: &Split) -> io::Result<Self> {
        let mut file = File::open(&split.path)?;
        let size = file.metadata()?.len();
        let (offset, line, is_aligning) = match split.progress {
            Progress::New if split.start > 0 => (split.start - 1, 1, true),
            Progress::New => (0, 1, false),
            Progress::At { offset, line } => (offset, line, false),
            Progress::Done => (split.size, 1, false),
        };
        if size < split.size.max(offset) {
            let seen = split.size.max(offset);
            return Err(io::Error::other(format!(
                "the file had {seen} bytes when it was read before and has {size} now; a file must \
                 not change while a job reads it"
            )));
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(SplitFile {
            file,
            buffer: Vec::new(),
            begin: 0,
            base: offset,
            end: split.end,
            at_end_of_file: false,
            is_aligning,
            line,
        })
    }

    /// The position of the next record.
    pub(super) fn progress(&self) -> Progress {
        if self.is_aligning {
            Progress::New
        } else {
            Progress::At {
                offset: self.position(),
                line: self.line,
            }
        }
    }

    fn position(&self) -> u64 {
        self.base + self.begin as u64
    }

    /// How many bytes are waiting to be consumed.
    pub(super) fn waiting(&self) -> usize {
        self.buffer.len() - self.begin
    }

    /// Reads more of the file.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.begin);
        self.base += self.begin as u64;
        self.begin = 0;
        // A record longer than what is read at once is looked at again each time, so read on in
        // growing steps.
        let wanted = READ_BYTES.max(self.buffer.len());
        let before = self.buffer.len();
        let read = (&mut self.file)
            .take(wanted as u64)
            .read_to_end(&mut self.buffer)?;
        debug_assert_eq!(self.buffer.len(), before + read);
        self.at_end_of_file = read < wanted;
        if self.is_aligning {
            match self.buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.begin = end + 1;
                    self.is_aligning = false;
                }
                None => self.begin = self.buffer.len(),
            }
        }
        Ok(())
    }

    /// What can be read now; empty if more must be read first.
    pub(super) fn piece(&self) -> Piece<'_> {
        let bytes = &self.buffer[self.begin..];
        if self.is_aligning {
            return Piece {
                bytes: &[],
                is_end: self.at_end_of_file,
            };
        }
        let Some(end) = self.end else {
            return Piece {
                bytes,
                is_end: self.at_end_of_file,
            };
        };
        let position = self.position();
        if position >= end {
            return Piece {
                bytes: &[],
                is_end: true,
            };
        }
        let last = usize::try_from(end - 1 - position).unwrap_or(usize::MAX);
        let line_end = bytes
            .get(last..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
        match line_end {
            Some(behind) => Piece {
                bytes: &bytes[..=last + behind],
                is_end: true,
            },
            None => Piece {
                bytes,
                is_end: self.at_end_of_file,
            },
        }
    }

    /// Goes on behind `bytes` bytes, which are whole records.
    pub(super) fn consume(&mut self, bytes: usize) {
        let consumed = &self.buffer[self.begin..self.begin + bytes];
        self.line += consumed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.begin += bytes;
    }
}

/// The number of lines before the first record of a split, for messages.
pub(super) fn lines_before(split: &Split) -> io::Result<u64> {
    if split.start == 0 {
        return Ok(0);
    }
    let mut head = File::open(&split.path)?.take(split.start - 1);
    let (mut lines, mut buffer) = (1, vec![0; READ_BYTES]);
    loop {
        match head.read(&mut buffer)? {
            0 => return Ok(lines),
            read => lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }
}

//! Reads the records of one state file, frame by frame, checking everything.

use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::CheckpointError;
use super::format::{
    FOOTER_LENGTH, FRAME_HEADER_LENGTH, FileHeader, MAGIC, PREFIX_LENGTH, VERSION,
};
use crate::error::{Result, RuntimeError};
use crate::operator::StateKind;

/// Streams one state file.
pub(super) struct FrameReader {
    input: Box<dyn Read + Send>,
    path: PathBuf,
    /// Length of the file.
    length: u64,
    /// How much of it has been read.
    offset: u64,
    crc: crc32fast::Hasher,
    header: FileHeader,
    /// Payload of the frame that is being read.
    frame: Vec<u8>,
    frame_offset: u64,
    position: usize,
    frame_records: u32,
    records: u64,
    hash: u64,
    record: Range<usize>,
    finished: bool,
    /// The footer's checksum according to the manifest.
    expected_crc: Option<u32>,
}

impl FrameReader {
    /// Reads the header. `length` is the length of `input` in bytes.
    pub(super) fn open(
        input: Box<dyn Read + Send>,
        path: &Path,
        length: u64,
        expected_crc: Option<u32>,
    ) -> Result<Self> {
        let mut reader = Self {
            input,
            path: path.to_path_buf(),
            length,
            offset: 0,
            crc: crc32fast::Hasher::new(),
            header: FileHeader {
                job: String::new(),
                uid: String::new(),
                operator: String::new(),
                state: String::new(),
                schema: super::StateSchema::list(""),
                worker: 0,
                workers: 0,
            },
            frame: Vec::new(),
            frame_offset: 0,
            position: 0,
            frame_records: 0,
            records: 0,
            hash: 0,
            record: 0..0,
            finished: false,
            expected_crc,
        };
        reader.header = reader.read_header()?;
        Ok(reader)
    }

    pub(super) fn header(&self) -> &FileHeader {
        &self.header
    }

    fn read_header(&mut self) -> Result<FileHeader> {
        let mut magic = [0; MAGIC.len()];
        self.read_exact(&mut magic, "the header")?;
        if &magic != MAGIC {
            return Err(CheckpointError::NotAStateFile {
                path: self.path.clone(),
            }
            .into());
        }
        let version = self.read_u32("the header")?;
        if version != VERSION {
            return Err(CheckpointError::Version {
                path: self.path.clone(),
                found: version,
                supported: VERSION,
            }
            .into());
        }
        let length = self.read_u32("the header")?;
        let crc = self.read_u32("the header")?;
        debug_assert_eq!(self.offset, PREFIX_LENGTH as u64);
        let json = self.read_vec(length, Vec::new(), "the header")?;
        let at = PREFIX_LENGTH as u64;
        if crc32fast::hash(&json) != crc {
            return Err(self.corrupt(at, "the header's checksum does not match"));
        }
        serde_json::from_slice(&json)
            .map_err(|error| self.corrupt(at, format!("the header is not understood: {error}")))
    }

    /// Moves to the next record; `false` after the last one, when the footer has been checked as well.
    pub(super) fn advance(&mut self) -> Result<bool> {
        while self.frame_records == 0 {
            if self.finished || !self.read_frame()? {
                self.finished = true;
                return Ok(false);
            }
        }
        self.frame_records -= 1;
        self.records += 1;
        self.hash = match self.header.schema.kind {
            StateKind::Keyed => u64::from_le_bytes(self.take_array()?),
            StateKind::List => 0,
        };
        let length = u32::from_le_bytes(self.take_array()?) as usize;
        if self.frame.len() - self.position < length {
            return Err(self.bad_record());
        }
        self.record = self.position..self.position + length;
        self.position += length;
        if self.frame_records == 0 && self.position != self.frame.len() {
            return Err(self.corrupt(self.frame_offset, "a frame holds more than its records"));
        }
        Ok(true)
    }

    /// Routing hash of the record that the reader stands on; 0 for list state.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Bytes of the record that the reader stands on.
    pub(super) fn record(&self) -> &[u8] {
        &self.frame[self.record.clone()]
    }

    /// Reads the next frame; `false` when it was the footer.
    fn read_frame(&mut self) -> Result<bool> {
        let at = self.offset;
        let length = self.read_u32("a frame or the footer")?;
        if length == 0 {
            self.read_footer(at)?;
            return Ok(false);
        }
        let records = self.read_u32("a frame")?;
        let crc = self.read_u32("a frame")?;
        let buffer = std::mem::take(&mut self.frame);
        self.frame = self.read_vec(length, buffer, "a frame")?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&length.to_le_bytes());
        hasher.update(&records.to_le_bytes());
        hasher.update(&self.frame);
        if hasher.finalize() != crc {
            return Err(self.corrupt(at, "a frame's checksum does not match"));
        }
        if records == 0 {
            return Err(self.corrupt(at, "a frame has no records"));
        }
        self.frame_offset = at + FRAME_HEADER_LENGTH as u64;
        self.frame_records = records;
        self.position = 0;
        Ok(true)
    }

    fn read_footer(&mut self, at: u64) -> Result<()> {
        let mut records = [0; 8];
        self.read_exact(&mut records, "the footer")?;
        let computed = self.crc.clone().finalize();
        let crc = self.read_u32("the footer")?;
        debug_assert_eq!(self.offset, at + FOOTER_LENGTH as u64);
        if crc != computed {
            return Err(self.corrupt(at, "the file's checksum does not match"));
        }
        if self.expected_crc.is_some_and(|expected| expected != crc) {
            return Err(self.corrupt(at, "the file is not the one that the manifest names"));
        }
        let records = u64::from_le_bytes(records);
        if records != self.records {
            let found = self.records;
            return Err(self.corrupt(
                at,
                format!("the file has {found} records, its footer says {records}"),
            ));
        }
        if self.offset != self.length {
            return Err(self.corrupt(self.offset, "bytes follow the footer"));
        }
        Ok(())
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.frame[self.position..].first_chunk::<N>() {
            Some(bytes) => {
                self.position += N;
                Ok(*bytes)
            }
            None => Err(self.bad_record()),
        }
    }

    fn bad_record(&self) -> RuntimeError {
        let at = self.frame_offset + self.position as u64;
        self.corrupt(at, "a record does not fit in its frame")
    }

    fn read_u32(&mut self, part: &'static str) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read_exact(&mut bytes, part)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads `length` bytes into `buffer`, after checking that the file has so many.
    fn read_vec(
        &mut self,
        length: u32,
        mut buffer: Vec<u8>,
        part: &'static str,
    ) -> Result<Vec<u8>> {
        if u64::from(length) > self.length.saturating_sub(self.offset) {
            return Err(self.truncated(part));
        }
        buffer.resize(length as usize, 0);
        self.read_exact(&mut buffer, part)?;
        Ok(buffer)
    }

    fn read_exact(&mut self, buffer: &mut [u8], part: &'static str) -> Result<()> {
        self.input.read_exact(buffer).map_err(|error| {
            if error.kind() == ErrorKind::UnexpectedEof {
                self.truncated(part)
            } else {
                RuntimeError::io(&self.path, error)
            }
        })?;
        self.crc.update(buffer);
        self.offset += buffer.len() as u64;
        Ok(())
    }

    fn truncated(&self, part: &'static str) -> RuntimeError {
        CheckpointError::Truncated {
            path: self.path.clone(),
            offset: self.offset,
            length: self.length,
            part,
        }
        .into()
    }

    pub(super) fn corrupt(&self, offset: u64, reason: impl Into<String>) -> RuntimeError {
        CheckpointError::Corrupt {
            path: self.path.clone(),
            offset,
            reason: reason.into(),
        }
        .into()
    }
}

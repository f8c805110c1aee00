//! Writes the records of one state in frames.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::CheckpointError;
use super::format::{FRAME_HEADER_LENGTH, FRAME_TARGET, FileHeader, MAX_RECORD, encode_prefix};
use crate::error::Result;
use crate::operator::{RecordSink, StateKind};

/// Takes the records of one state, one by one, and writes them in checksummed frames.
///
/// Nothing is written before the first record: an empty state has no file.
pub(super) struct FrameWriter<'a> {
    out: &'a mut dyn Write,
    path: &'a Path,
    header: &'a FileHeader,
    /// Room for the frame header, then the payload.
    frame: Vec<u8>,
    frame_records: u32,
    records: u64,
    written: u64,
    crc: crc32fast::Hasher,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) records: u64,
    pub(super) size_bytes: u64,
    /// The checksum in the footer.
    pub(super) crc32: u32,
}

impl<'a> FrameWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, path: &'a Path, header: &'a FileHeader) -> Self {
        Self {
            out,
            path,
            header,
            frame: vec![0; FRAME_HEADER_LENGTH],
            frame_records: 0,
            records: 0,
            written: 0,
            crc: crc32fast::Hasher::new(),
        }
    }

    fn push(&mut self, hash: u64, record: &[u8]) -> Result<()> {
        if record.len() > MAX_RECORD {
            return Err(CheckpointError::Encode {
                uid: self.header.uid.clone(),
                state: self.header.state.clone(),
                reason: format!("a record has {} bytes, more than 1 GiB", record.len()),
            }
            .into());
        }
        let length = u32::try_from(record.len()).expect("checked against the limit");
        if self.header.schema.kind == StateKind::Keyed {
            self.frame.extend_from_slice(&hash.to_le_bytes());
        }
        self.frame.extend_from_slice(&length.to_le_bytes());
        self.frame.extend_from_slice(record);
        self.frame_records += 1;
        if self.frame.len() >= FRAME_HEADER_LENGTH + FRAME_TARGET {
            self.flush_frame()?;
        }
        Ok(())
    }

    /// Closes the file; `None` when there were no records and nothing was written.
    pub(super) fn finish(mut self) -> Result<Option<Written>> {
        self.flush_frame()?;
        if self.records == 0 {
            return Ok(None);
        }
        let mut footer = Vec::from(0u32.to_le_bytes());
        footer.extend_from_slice(&self.records.to_le_bytes());
        self.write(&footer)?;
        let crc32 = self.crc.clone().finalize();
        self.write(&crc32.to_le_bytes())?;
        self.out.flush().map_err(|cause| self.cannot_write(cause))?;
        Ok(Some(Written {
            records: self.records,
            size_bytes: self.written,
            crc32,
        }))
    }

    fn flush_frame(&mut self) -> Result<()> {
        if self.frame_records == 0 {
            return Ok(());
        }
        if self.written == 0 {
            let prefix = encode_prefix(self.header);
            self.write(&prefix)?;
        }
        let mut frame = std::mem::take(&mut self.frame);
        let payload = u32::try_from(frame.len() - FRAME_HEADER_LENGTH)
            .expect("a frame holds its target and at most one longest record more");
        frame[..4].copy_from_slice(&payload.to_le_bytes());
        frame[4..8].copy_from_slice(&self.frame_records.to_le_bytes());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&frame[..8]);
        crc.update(&frame[FRAME_HEADER_LENGTH..]);
        frame[8..12].copy_from_slice(&crc.finalize().to_le_bytes());
        self.write(&frame)?;
        self.records += u64::from(self.frame_records);
        self.frame_records = 0;
        frame.truncate(FRAME_HEADER_LENGTH);
        self.frame = frame;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.written += bytes.len() as u64;
        self.out
            .write_all(bytes)
            .map_err(|cause| self.cannot_write(cause))
    }

    fn cannot_write(&self, cause: std::io::Error) -> crate::RuntimeError {
        CheckpointError::Write {
            path: self.path.to_path_buf(),
            cause: Arc::new(cause),
        }
        .into()
    }
}

impl RecordSink for FrameWriter<'_> {
    fn record(&mut self, hash: u64, bytes: &[u8]) -> Result<()> {
        self.push(hash, bytes)
    }
}

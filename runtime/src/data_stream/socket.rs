//! Lines from a TCP server.
//!
//! The socket does not block: a worker must go on with its other work while no line comes.

use std::io::{ErrorKind, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::batch::{BATCH_ROWS, StreamBatch};
use crate::error::{ConnectorFailure, Result, SourceError};
use crate::operator::{OperatorContext, Output};
use crate::source::{SourceReader, SourceStatus};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(1);
/// A line longer than this is refused: the server does not send lines.
const MAX_LINE_BYTES: usize = 64 << 20;

pub(crate) struct SocketReader {
    address: String,
    stream: Option<TcpStream>,
    /// Bytes after the last complete line.
    rest: Vec<u8>,
    /// How much of `rest` is known to hold no line end.
    searched: usize,
}

impl SocketReader {
    pub(crate) fn new(address: String) -> Self {
        SocketReader {
            address,
            stream: None,
            rest: Vec::new(),
            searched: 0,
        }
    }

    fn failed(&self, cause: impl std::fmt::Display) -> ConnectorFailure {
        ConnectorFailure::external("socket", format!("server '{}': {cause}", self.address))
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        let mut last = std::io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => {
                    stream.set_nonblocking(true)?;
                    return Ok(stream);
                }
                Err(cause) => last = cause,
            }
        }
        Err(last)
    }

    /// Moves complete lines into a batch; at the end of the stream also the last, incomplete one.
    fn take_lines(&mut self, rows: usize, at_end: bool) -> Result<StreamBatch<String>> {
        let mut batch = StreamBatch::new();
        let mut start = 0;
        while batch.len() < rows {
            let from = start.max(self.searched);
            let end = match self.rest[from..].iter().position(|byte| *byte == b'\n') {
                Some(offset) => from + offset,
                None if at_end && start < self.rest.len() => self.rest.len(),
                None => {
                    self.searched = self.rest.len();
                    break;
                }
            };
            let line = self.rest[start..end]
                .strip_suffix(b"\r")
                .unwrap_or(&self.rest[start..end]);
            let line = String::from_utf8(line.to_vec()).map_err(|_| {
                SourceError::Record(Box::new(ConnectorFailure::user(
                    "socket",
                    format!("server '{}' sent a line that is not UTF-8", self.address),
                )))
            })?;
            batch.push(line);
            start = (end + 1).min(self.rest.len());
            self.searched = start;
        }
        self.rest.drain(..start);
        self.searched -= start.min(self.searched);
        Ok(batch)
    }
}

impl SourceReader for SocketReader {
    fn open(&mut self, _context: &OperatorContext) -> Result<()> {
        self.stream = Some(
            self.connect()
                .map_err(|cause| SourceError::Open(Box::new(self.failed(cause))))?,
        );
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let rows = max_rows.clamp(1, BATCH_ROWS);
        let batch = self.take_lines(rows, self.stream.is_none())?;
        if !batch.is_empty() {
            output.emit(0, batch);
            return Ok(SourceStatus::Ready);
        }
        let Some(stream) = &mut self.stream else {
            return Ok(SourceStatus::Finished);
        };
        let mut buffer = [0; 1 << 16];
        match stream.read(&mut buffer) {
            Ok(0) => self.stream = None,
            Ok(read) => self.rest.extend_from_slice(&buffer[..read]),
            Err(cause)
                if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return Ok(SourceStatus::Waiting(RETRY));
            }
            Err(cause) => return Err(SourceError::Read(Box::new(self.failed(cause))).into()),
        }
        if self.rest.len() > MAX_LINE_BYTES {
            let failure = self.failed(format!("a line has more than {MAX_LINE_BYTES} bytes"));
            return Err(SourceError::Record(Box::new(failure)).into());
        }
        Ok(SourceStatus::Ready)
    }
}

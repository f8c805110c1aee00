//! The format of a state file.
//!
//! ```text
//! magic "AQFSTATE" | u32 version | u32 header length | u32 header crc | header (JSON)
//! frame*:  u32 payload length (> 0) | u32 records | u32 crc of the two and the payload | payload
//! footer:  u32 0 | u64 records in the file | u32 crc of all bytes before this word
//! ```
//! A record of keyed state is `u64 routing hash | u32 length | bytes`, of list state
//! `u32 length | bytes`. Integers are little-endian. Nothing follows the footer.

use serde::{Deserialize, Serialize};

use super::StateSchema;

pub(super) const MAGIC: &[u8; 8] = b"AQFSTATE";
/// Raised when the format changes so that older programs cannot read it.
pub(super) const VERSION: u32 = 1;
/// Magic, version, header length, header crc.
pub(super) const PREFIX_LENGTH: usize = 20;
/// Payload length, records, crc.
pub(super) const FRAME_HEADER_LENGTH: usize = 12;
/// Zero, records, crc.
pub(super) const FOOTER_LENGTH: usize = 16;
/// A frame is closed when its payload has reached this many bytes.
pub(super) const FRAME_TARGET: usize = 64 << 10;
/// Longest record.
pub(super) const MAX_RECORD: usize = 1 << 30;

/// Says what a file holds, so that it can be understood without the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileHeader {
    pub(super) job: String,
    pub(super) uid: String,
    pub(super) operator: String,
    pub(super) state: String,
    pub(super) schema: StateSchema,
    pub(super) worker: usize,
    pub(super) workers: usize,
}

/// Everything before the first frame.
pub(super) fn encode_prefix(header: &FileHeader) -> Vec<u8> {
    let json = serde_json::to_vec(header).expect("a header of strings and numbers is valid JSON");
    let length = u32::try_from(json.len()).expect("names are far shorter than 4 GiB");
    let mut bytes = Vec::with_capacity(PREFIX_LENGTH + json.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&json).to_le_bytes());
    bytes.extend_from_slice(&json);
    bytes
}

//! Formats: how rows are written as bytes and read back.

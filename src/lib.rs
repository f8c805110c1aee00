//! Streams and tables from one source.

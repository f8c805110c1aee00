//! Logical types, values, rows and columnar change batches.

//! Relational operators and their state containers.

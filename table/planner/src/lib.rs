//! SQL parser, analyser, rewrite rules and exec graph.

pub mod parser;

//! TableEnvironment, StreamTableEnvironment, Table, statement sets and results.

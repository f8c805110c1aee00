//! What connectors and the planner are written against: schemas, expressions, operations, catalogs, factories.

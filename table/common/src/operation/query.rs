//! The tree behind a query: relational operations with resolved expressions.
//!
//! Columns are referred to by index into the input's columns (for a join: the left side's columns,
//! then the right side's). Children are shared, so that cloning a tree is cheap.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_runtime::{Boundedness, OutputPort};
use aquifer_types::{ChangelogMode, Field};
use serde::{Deserialize, Serialize};

use crate::identifier::ObjectIdentifier;
use crate::options::TableOptions;
use crate::schema::ResolvedSchema;

/// A relational operation.
#[derive(Debug, Clone)]
pub enum QueryOperation {
    /// Reads a table by its connector.
    Source(SourceQuery),
    /// Reads a data stream.
    DataStream(DataStreamQuery),
    /// Rows written in the query.
    Values(ValuesQuery),
    /// Computes columns.
    Project(ProjectQuery),
    /// Keeps the rows for which a condition is true.
    Filter(FilterQuery),
    /// Groups and aggregates.
    Aggregate(AggregateQuery),
    /// Joins two inputs.
    Join(JoinQuery),
    /// Keeps one of equal rows.
    Distinct(DistinctQuery),
    /// UNION ALL of several inputs.
    Set(SetQuery),
    /// Makes a column an event-time attribute.
    Watermark(WatermarkQuery),
    /// Assigns windows: a window table function.
    Window(WindowQuery),
}

/// A table with everything a connector must know, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedTable {
    /// Its path.
    pub identifier: ObjectIdentifier,
    /// Its columns.
    pub schema: ResolvedSchema,
    /// Its options; in a stored plan the values of secrets are masked.
    #[serde(serialize_with = "TableOptions::serialize_masked")]
    pub options: TableOptions,
    /// Its partition columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition_keys: Vec<String>,
}

/// See [`QueryOperation::Source`]. The output is the table's physical and metadata columns at
/// `projection`; computed columns and watermarks are operations of their own above it.
#[derive(Debug, Clone)]
pub struct SourceQuery {
    /// The table.
    pub table: Arc<ResolvedTable>,
    /// Indices into [`ResolvedSchema::source_fields`] of the columns that are read.
    pub projection: Vec<usize>,
    /// The kinds of changes the source produces.
    pub changelog_mode: ChangelogMode,
    /// Whether the source ends by itself.
    pub boundedness: Boundedness,
}

/// See [`QueryOperation::DataStream`].
#[derive(Debug, Clone)]
pub struct DataStreamQuery {
    /// A name for plans and messages.
    pub name: String,
    /// The stream's stable id, if it has one.
    pub uid: Option<String>,
    /// The output in the stream environment that carries change batches with these columns.
    pub port: OutputPort,
    /// The columns.
    pub schema: ResolvedSchema,
    /// The kinds of changes the stream holds.
    pub changelog_mode: ChangelogMode,
    /// Whether the stream ends by itself.
    pub boundedness: Boundedness,
}

/// See [`QueryOperation::Values`].
#[derive(Debug, Clone)]
pub struct ValuesQuery {
    /// Constant expressions, one list per row, each of its column's type.
    pub rows: Vec<Vec<ResolvedExpr>>,
    /// The columns.
    pub fields: Vec<Field>,
}

/// See [`QueryOperation::Project`].
#[derive(Debug, Clone)]
pub struct ProjectQuery {
    /// One expression per column.
    pub expressions: Vec<ResolvedExpr>,
    /// The columns.
    pub fields: Vec<Field>,
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// See [`QueryOperation::Filter`].
#[derive(Debug, Clone)]
pub struct FilterQuery {
    /// A BOOLEAN expression.
    pub condition: ResolvedExpr,
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// One aggregate of an [`AggregateQuery`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AggregateCall {
    /// The function's main name.
    pub function: String,
    /// The arguments, as columns of the input.
    pub arguments: Vec<usize>,
    /// Whether each value counts once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// A BOOLEAN column of the input that must be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<usize>,
    /// The result's column.
    pub field: Field,
}

/// See [`QueryOperation::Aggregate`]. The output is the grouping columns, then the aggregates.
/// Without grouping columns there is one row, also for an empty input.
#[derive(Debug, Clone)]
pub struct AggregateQuery {
    /// The grouping columns of the input.
    pub grouping: Vec<usize>,
    /// The aggregates.
    pub aggregates: Vec<AggregateCall>,
    /// The columns.
    pub fields: Vec<Field>,
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// Which rows a join keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JoinType {
    /// Matching pairs.
    Inner,
    /// And left rows without a match, padded with NULL.
    Left,
    /// And right rows without a match, padded with NULL.
    Right,
    /// And both.
    Full,
    /// Left rows with a match; the output is the left side's columns alone.
    Semi,
    /// Left rows without a match; the output is the left side's columns alone.
    Anti,
}

impl JoinType {
    /// Whether columns of the left side may be NULL for want of a match.
    pub fn pads_left(self) -> bool {
        matches!(self, JoinType::Right | JoinType::Full)
    }

    /// Whether columns of the right side may be NULL for want of a match.
    pub fn pads_right(self) -> bool {
        matches!(self, JoinType::Left | JoinType::Full)
    }

    /// Whether the right side's columns are in the output.
    pub fn keeps_right(self) -> bool {
        !matches!(self, JoinType::Semi | JoinType::Anti)
    }

    /// The word for plans.
    pub fn name(self) -> &'static str {
        match self {
            JoinType::Inner => "InnerJoin",
            JoinType::Left => "LeftOuterJoin",
            JoinType::Right => "RightOuterJoin",
            JoinType::Full => "FullOuterJoin",
            JoinType::Semi => "LeftSemiJoin",
            JoinType::Anti => "LeftAntiJoin",
        }
    }
}

/// See [`QueryOperation::Join`]. The output is the left side's columns, then (unless
/// the join only tests for a match) the right side's.
#[derive(Debug, Clone)]
pub struct JoinQuery {
    /// Which rows are kept.
    pub join_type: JoinType,
    /// A BOOLEAN expression over the columns of both sides.
    pub condition: ResolvedExpr,
    /// The columns.
    pub fields: Vec<Field>,
    /// The left side.
    pub left: Arc<QueryOperation>,
    /// The right side.
    pub right: Arc<QueryOperation>,
}

/// See [`QueryOperation::Distinct`].
#[derive(Debug, Clone)]
pub struct DistinctQuery {
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// See [`QueryOperation::Set`]. All inputs have the columns' types.
#[derive(Debug, Clone)]
pub struct SetQuery {
    /// The inputs, two or more.
    pub inputs: Vec<Arc<QueryOperation>>,
    /// The columns.
    pub fields: Vec<Field>,
}

/// See [`QueryOperation::Watermark`].
#[derive(Debug, Clone)]
pub struct WatermarkQuery {
    /// The event-time column.
    pub column: usize,
    /// The watermark of a row.
    pub expression: ResolvedExpr,
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// See [`QueryOperation::Window`]. The output is the input's columns, then `window_start`,
/// `window_end` and `window_time`; each row comes once per window it belongs to.
#[derive(Debug, Clone)]
pub struct WindowQuery {
    /// The windows.
    pub window: WindowKind,
    /// The event-time column.
    pub column: usize,
    /// The columns.
    pub fields: Vec<Field>,
    /// The input.
    pub input: Arc<QueryOperation>,
}

/// Windows aligned to time; all lengths are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WindowKind {
    /// One after the other.
    Tumble {
        /// Length.
        size_ms: i64,
        /// Shift of the start.
        offset_ms: i64,
    },
    /// A new one every slide.
    Hop {
        /// Length.
        size_ms: i64,
        /// Distance of two starts.
        slide_ms: i64,
        /// Shift of the start.
        offset_ms: i64,
    },
    /// With one start, ending step by step.
    Cumulate {
        /// Largest length.
        max_size_ms: i64,
        /// Distance of two ends.
        step_ms: i64,
        /// Shift of the start.
        offset_ms: i64,
    },
}

impl QueryOperation {
    /// Names and types of the output's columns.
    pub fn fields(&self) -> Vec<Field> {
        match self {
            QueryOperation::Source(q) => {
                let fields = q.table.schema.source_fields();
                q.projection.iter().map(|i| fields[*i].clone()).collect()
            }
            QueryOperation::DataStream(q) => q.schema.fields(),
            QueryOperation::Values(q) => q.fields.clone(),
            QueryOperation::Project(q) => q.fields.clone(),
            QueryOperation::Aggregate(q) => q.fields.clone(),
            QueryOperation::Join(q) => q.fields.clone(),
            QueryOperation::Set(q) => q.fields.clone(),
            QueryOperation::Window(q) => q.fields.clone(),
            QueryOperation::Filter(q) => q.input.fields(),
            QueryOperation::Distinct(q) => q.input.fields(),
            QueryOperation::Watermark(q) => q.input.fields(),
        }
    }

    /// The output's columns as a schema.
    pub fn schema(&self) -> ResolvedSchema {
        ResolvedSchema::physical(self.fields())
    }

    /// The inputs.
    pub fn children(&self) -> Vec<&Arc<QueryOperation>> {
        match self {
            QueryOperation::Source(_)
            | QueryOperation::DataStream(_)
            | QueryOperation::Values(_) => Vec::new(),
            QueryOperation::Project(q) => vec![&q.input],
            QueryOperation::Filter(q) => vec![&q.input],
            QueryOperation::Aggregate(q) => vec![&q.input],
            QueryOperation::Distinct(q) => vec![&q.input],
            QueryOperation::Watermark(q) => vec![&q.input],
            QueryOperation::Window(q) => vec![&q.input],
            QueryOperation::Join(q) => vec![&q.left, &q.right],
            QueryOperation::Set(q) => q.inputs.iter().collect(),
        }
    }

    /// The same operation over other inputs of the same columns.
    #[must_use]
    pub fn with_children(&self, children: Vec<Arc<QueryOperation>>) -> QueryOperation {
        let mut children = children.into_iter();
        let mut next = || children.next().expect("as many children as before");
        let mut operation = self.clone();
        match &mut operation {
            QueryOperation::Source(_)
            | QueryOperation::DataStream(_)
            | QueryOperation::Values(_) => {}
            QueryOperation::Project(q) => q.input = next(),
            QueryOperation::Filter(q) => q.input = next(),
            QueryOperation::Aggregate(q) => q.input = next(),
            QueryOperation::Distinct(q) => q.input = next(),
            QueryOperation::Watermark(q) => q.input = next(),
            QueryOperation::Window(q) => q.input = next(),
            QueryOperation::Join(q) => {
                q.left = next();
                q.right = next();
            }
            QueryOperation::Set(q) => q.inputs = children.collect(),
        }
        operation
    }
}

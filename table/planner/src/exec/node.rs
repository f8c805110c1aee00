//! Nodes, edges and the graph.

use std::collections::BTreeMap;

use aquifer_runtime::OutputPort;
use aquifer_table_common::{PlanError, Result};
use aquifer_types::{ChangelogMode, DataType, Field};
use serde::{Deserialize, Serialize};

use super::{
    Calc, ChangelogNormalize, DataStreamScan, GroupAggregate, Join, Output, Sink, TableSourceScan,
    Union, Values, WatermarkAssigner, WindowAggregate, WindowTableFunction,
};

/// The version of the plan's form.
const FORMAT_VERSION: u32 = 1;

/// A node of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecNode {
    /// Unique in the plan; part of the names of the node's state.
    pub id: u32,
    /// What it does, with its version.
    #[serde(flatten)]
    pub kind: ExecNodeKind,
    /// Where its rows come from.
    pub inputs: Vec<ExecEdge>,
    /// The columns.
    pub output: Vec<Field>,
    /// The kinds of changes that it produces.
    #[serde(with = "super::mode_names")]
    pub changelog_mode: ChangelogMode,
    /// The state that it keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<StateDescription>,
    /// The node in one line, for people.
    pub description: String,
}

/// What a node does. The tag in JSON is the node's type with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum ExecNodeKind {
    /// Reads a table.
    #[serde(rename = "stream-exec-table-source-scan_1")]
    TableSourceScan(Box<TableSourceScan>),
    /// Reads a data stream.
    #[serde(rename = "stream-exec-data-stream-scan_1")]
    DataStreamScan(DataStreamScan),
    /// Rows written in the query.
    #[serde(rename = "stream-exec-values_1")]
    Values(Values),
    /// Projects and filters.
    #[serde(rename = "stream-exec-calc_1")]
    Calc(Calc),
    /// Groups and aggregates.
    #[serde(rename = "stream-exec-group-aggregate_1")]
    GroupAggregate(GroupAggregate),
    /// Joins two inputs.
    #[serde(rename = "stream-exec-join_1")]
    Join(Join),
    /// The rows of all inputs.
    #[serde(rename = "stream-exec-union_1")]
    Union(Union),
    /// Makes watermarks.
    #[serde(rename = "stream-exec-watermark-assigner_1")]
    WatermarkAssigner(WatermarkAssigner),
    /// Assigns windows.
    #[serde(rename = "stream-exec-window-table-function_1")]
    WindowTableFunction(WindowTableFunction),
    /// Aggregates by windows.
    #[serde(rename = "stream-exec-window-aggregate_1")]
    WindowAggregate(WindowAggregate),
    /// Adds the retractions that an upsert stream leaves out.
    #[serde(rename = "stream-exec-changelog-normalize_1")]
    ChangelogNormalize(ChangelogNormalize),
    /// Writes a table.
    #[serde(rename = "stream-exec-sink_1")]
    Sink(Box<Sink>),
    /// Hands rows to the caller or to a data stream.
    #[serde(rename = "stream-exec-output_1")]
    Output(Output),
}

impl ExecNodeKind {
    /// The node's type with its version.
    pub fn type_name(&self) -> &'static str {
        match self {
            ExecNodeKind::TableSourceScan(_) => "stream-exec-table-source-scan_1",
            ExecNodeKind::DataStreamScan(_) => "stream-exec-data-stream-scan_1",
            ExecNodeKind::Values(_) => "stream-exec-values_1",
            ExecNodeKind::Calc(_) => "stream-exec-calc_1",
            ExecNodeKind::GroupAggregate(_) => "stream-exec-group-aggregate_1",
            ExecNodeKind::Join(_) => "stream-exec-join_1",
            ExecNodeKind::Union(_) => "stream-exec-union_1",
            ExecNodeKind::WatermarkAssigner(_) => "stream-exec-watermark-assigner_1",
            ExecNodeKind::WindowTableFunction(_) => "stream-exec-window-table-function_1",
            ExecNodeKind::WindowAggregate(_) => "stream-exec-window-aggregate_1",
            ExecNodeKind::ChangelogNormalize(_) => "stream-exec-changelog-normalize_1",
            ExecNodeKind::Sink(_) => "stream-exec-sink_1",
            ExecNodeKind::Output(_) => "stream-exec-output_1",
        }
    }
}

/// An edge of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecEdge {
    /// The node that sends.
    pub source: u32,
    /// How rows are shared out among the workers.
    pub distribution: Distribution,
}

impl ExecEdge {
    /// An edge that leaves rows where they are.
    pub fn forward(source: u32) -> Self {
        ExecEdge {
            source,
            distribution: Distribution::Any,
        }
    }

    /// An edge that brings rows of equal columns together; all rows, if there are no columns.
    pub fn keyed(source: u32, keys: Vec<usize>) -> Self {
        let distribution = if keys.is_empty() {
            Distribution::Singleton
        } else {
            Distribution::Hash { keys }
        };
        ExecEdge {
            source,
            distribution,
        }
    }
}

/// How rows are shared out among the workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Distribution {
    /// As they come.
    Any,
    /// By the values of columns.
    Hash {
        /// The columns.
        keys: Vec<usize>,
    },
    /// All to one worker.
    Singleton,
}

/// State that a node keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateDescription {
    /// Its name.
    pub name: String,
}

/// An execution plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecNodeGraph {
    /// The version of this form.
    pub format_version: u32,
    /// The version of the engine that wrote it.
    pub engine_version: String,
    /// The nodes, inputs before their readers.
    pub nodes: Vec<ExecNode>,
    /// The nodes that end the plan, one per statement in their order.
    pub roots: Vec<u32>,
    /// The outputs of data stream scans in this program, by node id; found anew when a plan is
    /// loaded.
    #[serde(skip)]
    pub streams: BTreeMap<u32, OutputPort>,
}

impl Default for ExecNodeGraph {
    fn default() -> Self {
        ExecNodeGraph {
            format_version: FORMAT_VERSION,
            engine_version: env!("CARGO_PKG_VERSION").to_string(),
            nodes: Vec::new(),
            roots: Vec::new(),
            streams: BTreeMap::new(),
        }
    }
}

impl ExecNodeGraph {
    /// The node of an id.
    ///
    /// # Errors
    /// `plan.unreadable` if there is none.
    pub fn node(&self, id: u32) -> Result<&ExecNode> {
        let missing = || PlanError::Unreadable {
            reason: format!("there is no node {id}"),
        };
        Ok(self.nodes.iter().find(|n| n.id == id).ok_or_else(missing)?)
    }

    /// The plan as JSON; the same plan gives the same text.
    ///
    /// # Errors
    /// `plan.internal` if a value has no JSON form.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|e| {
            PlanError::Internal {
                message: e.to_string(),
            }
            .into()
        })
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// `plan.unreadable` if it is no plan, or one of another version, or its nodes do not fit.
    pub fn from_json(json: &str) -> Result<Self> {
        let unreadable = |reason: String| PlanError::Unreadable { reason };
        let graph: ExecNodeGraph =
            serde_json::from_str(json).map_err(|e| unreadable(e.to_string()))?;
        if graph.format_version != FORMAT_VERSION {
            let found = graph.format_version;
            return Err(unreadable(format!(
                "it has format version {found}, this engine reads {FORMAT_VERSION}"
            ))
            .into());
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            for edge in &node.inputs {
                if !graph.nodes[..index].iter().any(|n| n.id == edge.source) {
                    let id = node.id;
                    return Err(unreadable(format!(
                        "node {id} reads node {}, which does not come before it",
                        edge.source
                    ))
                    .into());
                }
            }
            if graph.nodes[..index].iter().any(|n| n.id == node.id) {
                return Err(unreadable(format!("two nodes have id {}", node.id)).into());
            }
        }
        for root in &graph.roots {
            graph.node(*root)?;
        }
        Ok(graph)
    }
}

/// The types of columns.
pub(super) fn types_of(fields: &[Field]) -> Vec<DataType> {
    fields.iter().map(|f| f.data_type.clone()).collect()
}

/// The names of columns at these places, for descriptions.
pub(super) fn names_at(fields: &[Field], columns: &[usize]) -> String {
    let name = |c: &usize| {
        fields
            .get(*c)
            .map_or_else(|| format!("${c}"), |f| f.name.clone())
    };
    columns.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// An expression with the columns' names in place of their numbers, for descriptions.
pub(crate) fn expression_text(
    expression: &aquifer_functions::expression::ResolvedExpr,
    fields: &[Field],
) -> String {
    let names: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
    expression.display_with(&names).to_string()
}

impl ExecNodeKind {
    /// The node in one line, for people.
    pub(super) fn describe(&self, inputs: &[Vec<Field>], output: &[Field]) -> String {
        let input = inputs.first().map_or(&[][..], Vec::as_slice);
        match self {
            ExecNodeKind::TableSourceScan(node) => node.describe(),
            ExecNodeKind::DataStreamScan(node) => node.describe(),
            ExecNodeKind::Values(node) => node.describe(),
            ExecNodeKind::Calc(node) => node.describe(input, output),
            ExecNodeKind::GroupAggregate(node) => node.describe(input),
            ExecNodeKind::Join(node) => node.describe(inputs),
            ExecNodeKind::Union(_) => {
                let all: Vec<usize> = (0..output.len()).collect();
                format!("Union(all=[true], union=[{}])", names_at(output, &all))
            }
            ExecNodeKind::WatermarkAssigner(node) => node.describe(input),
            ExecNodeKind::WindowTableFunction(node) => node.describe(input),
            ExecNodeKind::WindowAggregate(node) => node.describe(input),
            ExecNodeKind::ChangelogNormalize(node) => node.describe(input),
            ExecNodeKind::Sink(node) => node.describe(),
            ExecNodeKind::Output(node) => node.describe(),
        }
    }

    /// The state that the node keeps.
    pub(super) fn state(&self) -> Vec<StateDescription> {
        let names: &[&str] = match self {
            ExecNodeKind::GroupAggregate(_) => &["groupAggregateState"],
            ExecNodeKind::WindowAggregate(_) => &["windowAggregateState"],
            ExecNodeKind::Join(_) => &["leftState", "rightState"],
            ExecNodeKind::ChangelogNormalize(_) => &["changelogNormalizeState"],
            _ => &[],
        };
        names
            .iter()
            .map(|name| StateDescription {
                name: (*name).to_string(),
            })
            .collect()
    }
}

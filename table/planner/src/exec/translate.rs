//! Nodes to pieces of the job.

use std::collections::BTreeMap;

use aquifer_operators::hash_exchange;
use aquifer_runtime::{
    Edge, Exchange, OutputPort, StreamExecutionEnvironment, Transformation, TransformationId,
};
use aquifer_table_common::Result;
use aquifer_table_common::connector::FactoryRegistry;
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatchCodec, ChangelogMode, Field};

use super::node::types_of;
use super::{Distribution, ExecNode, ExecNodeGraph, ExecNodeKind};

/// What translation needs beside the plan.
pub struct TranslateContext<'a> {
    /// Where the pieces are added.
    pub environment: &'a StreamExecutionEnvironment,
    /// Where connectors are found.
    pub factories: &'a FactoryRegistry,
    /// The session's time zone.
    pub time_zone: TimeZone,
    /// Processing time after which a silent source no longer holds back event time.
    pub idle_timeout_ms: Option<i64>,
}

/// What became of a root of a plan.
#[derive(Debug, Clone)]
pub enum Translated {
    /// A sink that was added to the environment.
    Sink {
        /// The sink.
        transformation: TransformationId,
        /// The table it writes, for messages.
        table: String,
    },
    /// Rows for the caller: [`ChangeBatch`](aquifer_types::ChangeBatch)es at a port.
    Output {
        /// Where they come out.
        port: OutputPort,
        /// The columns.
        fields: Vec<Field>,
        /// The kinds of changes that come.
        changelog_mode: ChangelogMode,
        /// The key by which a removed and an added row are an update.
        upsert_key: Option<Vec<usize>>,
    },
}

/// A node at work: its inputs' ports and where the pieces go.
pub(super) struct NodeContext<'a> {
    pub(super) node: &'a ExecNode,
    /// Per input its port and columns.
    pub(super) inputs: Vec<(OutputPort, &'a ExecNode)>,
    pub(super) context: &'a TranslateContext<'a>,
}

impl NodeContext<'_> {
    /// The edges of all inputs, each into a logical input of its own.
    pub(super) fn edges(&self) -> Vec<Edge> {
        (0..self.inputs.len())
            .map(|input| self.edge(input, input))
            .collect()
    }

    /// The edge of input `index` into the logical input `into`.
    pub(super) fn edge(&self, index: usize, into: usize) -> Edge {
        let exchange = match &self.node.inputs[index].distribution {
            Distribution::Any => Exchange::Forward,
            Distribution::Hash { keys } => hash_exchange(keys.clone()),
            Distribution::Singleton => Exchange::Global,
        };
        Edge::new(self.inputs[index].0, into, exchange)
    }

    /// The codec of the node's output.
    pub(super) fn codec(&self) -> std::sync::Arc<dyn aquifer_runtime::BatchCodec> {
        ChangeBatchCodec::new(types_of(&self.node.output))
    }

    /// Adds a piece under the node's stable id. A piece that takes the rows of its only input where they are runs on
    /// the workers that run the input: spread over more, rows would lose their order, and what is late would depend
    /// on the number of workers.
    pub(super) fn add(&self, transformation: Transformation) -> OutputPort {
        let mut transformation = transformation.with_uid(self.node.uid());
        if let ([(input, _)], [edge]) = (self.inputs.as_slice(), self.node.inputs.as_slice())
            && edge.distribution == Distribution::Any
            && transformation.parallelism.is_none()
        {
            let environment = self.context.environment;
            transformation.parallelism =
                environment.inspect(input.transformation, |input| input.parallelism);
        }
        OutputPort {
            transformation: self.context.environment.add(transformation),
            port: 0,
        }
    }
}

impl ExecNode {
    /// The stable id of the node's piece of the job.
    pub fn uid(&self) -> String {
        format!("{}_{}", self.id, self.kind.type_name())
    }
}

impl ExecNodeGraph {
    /// Adds the pieces of all nodes to the environment; answers what became of each root.
    ///
    /// # Errors
    /// What a connector or an operator finds wrong before the job starts.
    pub fn translate(&self, context: &TranslateContext<'_>) -> Result<Vec<Translated>> {
        let mut ports: BTreeMap<u32, OutputPort> = BTreeMap::new();
        let mut translated: BTreeMap<u32, Translated> = BTreeMap::new();
        for node in &self.nodes {
            let mut inputs = Vec::with_capacity(node.inputs.len());
            for edge in &node.inputs {
                let port = ports.get(&edge.source).copied();
                let port = port.ok_or_else(|| aquifer_table_common::PlanError::Unreadable {
                    reason: format!(
                        "node {} reads node {}, which has no output",
                        node.id, edge.source
                    ),
                })?;
                inputs.push((port, self.node(edge.source)?));
            }
            let at = NodeContext {
                node,
                inputs,
                context,
            };
            let port = match &node.kind {
                ExecNodeKind::TableSourceScan(scan) => scan.translate(&at)?,
                ExecNodeKind::DataStreamScan(scan) => {
                    scan.translate(&at, self.streams.get(&node.id))?
                }
                ExecNodeKind::Values(values) => values.translate(&at)?,
                ExecNodeKind::Calc(calc) => calc.translate(&at)?,
                ExecNodeKind::GroupAggregate(aggregate) => aggregate.translate(&at)?,
                ExecNodeKind::Join(join) => join.translate(&at)?,
                ExecNodeKind::Union(union) => union.translate(&at),
                ExecNodeKind::WatermarkAssigner(assigner) => assigner.translate(&at)?,
                ExecNodeKind::WindowTableFunction(function) => function.translate(&at)?,
                ExecNodeKind::WindowAggregate(aggregate) => aggregate.translate(&at)?,
                ExecNodeKind::ChangelogNormalize(normalize) => normalize.translate(&at)?,
                ExecNodeKind::Sink(sink) => {
                    translated.insert(node.id, sink.translate(&at)?);
                    continue;
                }
                ExecNodeKind::Output(output) => {
                    translated.insert(node.id, output.translate(&at));
                    continue;
                }
            };
            ports.insert(node.id, port);
        }
        Ok(self
            .roots
            .iter()
            .filter_map(|root| translated.remove(root))
            .collect())
    }
}

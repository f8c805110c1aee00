//! From transformations to a checked graph: what is needed, in an order that can be built, with ids and chains.
//!
//! Everything that can be wrong with a job is found here or earlier, so that building the dataflow cannot fail: a
//! worker that skipped a build would leave all workers with different channels.
//!
//! - Only transformations that lead to a sink are kept.
//! - Every node gets a **uid**: the user's, or one made of its position and name, which stays the same as long as the
//!   program does.
//! - Stateless steps in a row become one **chain**, unless an exchange, a second reader or a user forbids it.
//! - Each operator input is told which **assigners** make its watermark: the nearest ones upstream on every path.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::batch::BatchCodec;
use crate::error::{GraphError, Result};
use crate::exchange::{Exchange, FixedState, key_hash};
use crate::source::{Boundedness, SourceFactory};
use crate::transformation::{
    OperatorFactory, OutputPort, StepFactory, Transformation, TransformationId, TransformationKind,
};

/// A job, ready to be built on any number of workers.
pub struct StreamGraph {
    /// The nodes; edges point from lower to higher indices.
    pub nodes: Vec<Node>,
}

/// One operator of the dataflow.
pub struct Node {
    /// Shown in plans, messages and metrics. A chain's name joins those of its steps.
    pub name: String,
    /// Unique in the job.
    pub uid: String,
    /// What it does.
    pub kind: NodeKind,
    /// Where its rows come from.
    pub edges: Vec<NodeEdge>,
    /// The number of logical inputs.
    pub inputs: usize,
    /// The codec of each output.
    pub outputs: Vec<Arc<dyn BatchCodec>>,
    /// How many workers run it; `None`: all.
    pub parallelism: Option<usize>,
    /// True when it sends watermarks to those that ask.
    pub assigns_watermarks: bool,
    /// For each logical input what makes its watermark, sorted by node; empty for nodes that do not ask.
    pub assigners: Vec<Vec<Assigner>>,
}

/// A node that makes the watermark of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigner {
    /// Index of the node.
    pub node: usize,
    /// True when rows stay on their worker all the way from it: then the watermark of the same worker's instance is
    /// the one that counts.
    pub is_local: bool,
}

/// What a [`Node`] does.
pub enum NodeKind {
    /// Reads rows from outside.
    Source {
        /// Makes the readers.
        factory: SourceFactory,
        /// Whether it ends by itself.
        boundedness: Boundedness,
    },
    /// Stateless steps, one after the other.
    Chain(Vec<StepFactory>),
    /// Anything else.
    Operator(OperatorFactory),
}

/// An edge into a [`Node`].
#[derive(Clone)]
pub struct NodeEdge {
    /// The sending node.
    pub node: usize,
    /// Its output.
    pub port: usize,
    /// The receiver's logical input.
    pub input: usize,
    /// How rows are shared out.
    pub exchange: Exchange,
}

impl StreamGraph {
    /// Checks the transformations that `sinks` need and makes the graph.
    ///
    /// # Errors
    /// [`GraphError`] for a job without sinks, a uid used twice, an impossible parallelism.
    pub fn build(
        job: &str,
        transformations: &[Transformation],
        sinks: &[TransformationId],
        workers: usize,
    ) -> Result<StreamGraph> {
        if sinks.is_empty() {
            return Err(GraphError::Empty {
                job: job.to_string(),
            }
            .into());
        }
        let needed = reachable(transformations, sinks);
        check(transformations, &needed, workers)?;
        let readers = count_readers(transformations, &needed);

        let mut nodes: Vec<Node> = Vec::new();
        let mut node_of: HashMap<usize, usize, FixedState> = HashMap::default();
        for &index in &needed {
            let transformation = &transformations[index];
            if let Some(chain) = chain_to_extend(transformation, &readers, &node_of, &nodes) {
                if let (NodeKind::Chain(steps), TransformationKind::Step(step)) =
                    (&mut nodes[chain].kind, &transformation.kind)
                {
                    steps.push(step.clone());
                }
                let node = &mut nodes[chain];
                let _ = write!(node.name, " -> {}", transformation.name);
                node.outputs.clone_from(&transformation.outputs);
                if let Some(uid) = &transformation.uid {
                    node.uid.clone_from(uid);
                }
                node_of.insert(index, chain);
                continue;
            }
            let edges = edges_of(transformation, transformations, &node_of);
            let (kind, uses_event_time) = match &transformation.kind {
                TransformationKind::Source {
                    factory,
                    boundedness,
                } => (
                    NodeKind::Source {
                        factory: factory.clone(),
                        boundedness: *boundedness,
                    },
                    false,
                ),
                TransformationKind::Step(step) => (NodeKind::Chain(vec![step.clone()]), false),
                TransformationKind::Operator(factory) => (
                    NodeKind::Operator(factory.clone()),
                    transformation.uses_event_time,
                ),
            };
            let inputs = transformation.inputs();
            let assigners = if uses_event_time {
                assigners_of(&edges, inputs, &nodes)
            } else {
                Vec::new()
            };
            node_of.insert(index, nodes.len());
            nodes.push(Node {
                name: transformation.name.clone(),
                uid: transformation.uid.clone().unwrap_or_default(),
                kind,
                edges,
                inputs,
                outputs: transformation.outputs.clone(),
                parallelism: transformation.parallelism,
                assigns_watermarks: transformation.assigns_watermarks,
                assigners,
            });
        }
        name_nodes(&mut nodes)?;
        Ok(StreamGraph { nodes })
    }

    /// A number that is the same for the same program; peers compare it before they work together.
    pub fn fingerprint(&self) -> u64 {
        key_hash(&self.to_string())
    }

    /// How many snapshots one worker hands over at a checkpoint.
    pub fn participants(&self) -> usize {
        self.nodes
            .iter()
            .filter(|node| !matches!(node.kind, NodeKind::Chain(_)))
            .count()
    }

    /// How many sources each worker reads.
    pub fn sources(&self) -> usize {
        self.nodes
            .iter()
            .filter(|node| matches!(node.kind, NodeKind::Source { .. }))
            .count()
    }
}

/// One line per node: index, name, uid, parallelism and inputs.
impl std::fmt::Display for StreamGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, node) in self.nodes.iter().enumerate() {
            write!(f, "{index}: {} [uid {}]", node.name, node.uid)?;
            if let Some(parallelism) = node.parallelism {
                write!(f, " [parallelism {parallelism}]")?;
            }
            for edge in &node.edges {
                write!(f, " <- {}", edge.node)?;
                if edge.port > 0 {
                    write!(f, ".{}", edge.port)?;
                }
                write!(f, " ({}", edge.exchange.name())?;
                if node.inputs > 1 {
                    write!(f, ", input {}", edge.input)?;
                }
                f.write_str(")")?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// All that the sinks need, sorted; edges always point to lower ids.
fn reachable(transformations: &[Transformation], sinks: &[TransformationId]) -> BTreeSet<usize> {
    let mut needed = BTreeSet::new();
    let mut stack: Vec<usize> = sinks.iter().map(|sink| sink.0).collect();
    while let Some(index) = stack.pop() {
        if needed.insert(index) {
            stack.extend(
                transformations[index]
                    .edges
                    .iter()
                    .map(|edge| edge.from.transformation.0),
            );
        }
    }
    needed
}

fn check(
    transformations: &[Transformation],
    needed: &BTreeSet<usize>,
    workers: usize,
) -> Result<()> {
    for &index in needed {
        let transformation = &transformations[index];
        if transformation.parallelism == Some(0) {
            return Err(GraphError::Parallelism {
                operator: transformation.name.clone(),
                parallelism: 0,
                workers,
            }
            .into());
        }
        for edge in &transformation.edges {
            let from = edge.from.transformation.0;
            if from >= index {
                return Err(GraphError::Cycle {
                    path: vec![transformation.name.clone()],
                }
                .into());
            }
            if edge.from.port >= transformations[from].outputs.len() {
                return Err(GraphError::Connection {
                    operator: transformation.name.clone(),
                    input: transformations[from].name.clone(),
                    reason: format!("there is no output {}", edge.from.port),
                }
                .into());
            }
        }
    }
    Ok(())
}

fn count_readers(
    transformations: &[Transformation],
    needed: &BTreeSet<usize>,
) -> BTreeMap<OutputPort, usize> {
    let mut readers = BTreeMap::new();
    for edge in needed
        .iter()
        .flat_map(|&index| &transformations[index].edges)
    {
        *readers.entry(edge.from).or_insert(0) += 1;
    }
    readers
}

/// The chain that can take in this step.
fn chain_to_extend(
    transformation: &Transformation,
    readers: &BTreeMap<OutputPort, usize>,
    node_of: &HashMap<usize, usize, FixedState>,
    nodes: &[Node],
) -> Option<usize> {
    let TransformationKind::Step(_) = transformation.kind else {
        return None;
    };
    let [edge] = transformation.edges.as_slice() else {
        return None;
    };
    let chain = *node_of.get(&edge.from.transformation.0)?;
    let node = &nodes[chain];
    let fits = transformation.chaining
        && matches!(edge.exchange, Exchange::Forward)
        && readers.get(&edge.from) == Some(&1)
        && matches!(node.kind, NodeKind::Chain(_))
        && node.parallelism == transformation.parallelism
        && (node.uid.is_empty() || transformation.uid.is_none());
    fits.then_some(chain)
}

/// The edges in terms of nodes. Rows that would stay on a worker which does not run the receiver are shared out.
fn edges_of(
    transformation: &Transformation,
    transformations: &[Transformation],
    node_of: &HashMap<usize, usize, FixedState>,
) -> Vec<NodeEdge> {
    transformation
        .edges
        .iter()
        .map(|edge| {
            let from = edge.from.transformation.0;
            let same_workers = transformations[from].parallelism == transformation.parallelism;
            let exchange = match &edge.exchange {
                Exchange::Forward if !same_workers => Exchange::Rebalance,
                exchange => exchange.clone(),
            };
            NodeEdge {
                node: node_of[&from],
                port: edge.from.port,
                input: edge.input,
                exchange,
            }
        })
        .collect()
}

/// The nearest assigners upstream, for each logical input.
fn assigners_of(edges: &[NodeEdge], inputs: usize, nodes: &[Node]) -> Vec<Vec<Assigner>> {
    let is_forward = |edge: &NodeEdge| matches!(edge.exchange, Exchange::Forward);
    (0..inputs)
        .map(|input| {
            let mut found: BTreeMap<usize, bool> = BTreeMap::new();
            let mut seen = BTreeSet::new();
            let mut stack: Vec<(usize, bool)> = edges
                .iter()
                .filter(|edge| edge.input == input)
                .map(|edge| (edge.node, is_forward(edge)))
                .collect();
            while let Some((index, is_local)) = stack.pop() {
                if !seen.insert((index, is_local)) {
                    continue;
                }
                if nodes[index].assigns_watermarks {
                    // One way by other workers is enough.
                    *found.entry(index).or_insert(true) &= is_local;
                } else {
                    let edges = nodes[index].edges.iter();
                    stack.extend(edges.map(|edge| (edge.node, is_local && is_forward(edge))));
                }
            }
            found
                .into_iter()
                .map(|(node, is_local)| Assigner { node, is_local })
                .collect()
        })
        .collect()
}

/// Gives a uid to those without one and refuses uids that are used twice.
fn name_nodes(nodes: &mut [Node]) -> Result<()> {
    let mut names: HashMap<String, String, FixedState> = HashMap::default();
    for (index, node) in nodes.iter_mut().enumerate() {
        if node.uid.is_empty() {
            let word: String = node
                .name
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() {
                        c.to_ascii_lowercase()
                    } else {
                        '-'
                    }
                })
                .take(32)
                .collect();
            node.uid = format!("auto-{index}-{word}");
        }
        if let Some(first) = names.insert(node.uid.clone(), node.name.clone()) {
            return Err(GraphError::DuplicateUid {
                uid: node.uid.clone(),
                first,
                second: node.name.clone(),
            }
            .into());
        }
    }
    Ok(())
}

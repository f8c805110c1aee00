//! Builds the dataflow of a job on one worker. Every worker builds the same, in the same order, and nothing here can
//! fail: what can be wrong was found when the stream graph was made, and operators are opened by their drivers later.

use std::rc::Rc;
use std::sync::Arc;

use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::probe::Handle as ProbeHandle;
use timely::dataflow::{Scope, Stream};
use timely::worker::Worker;

use crate::batch::Batch;
use crate::driver::{
    ChainDriver, JobInstance, OperatorDriver, OperatorParts, RowInput, SourceDriver,
    WatermarkInput, connect, ignore_progress, send,
};
use crate::exchange::Exchange;
use crate::metrics::OperatorMetrics;
use crate::operator::OperatorContext;
use crate::stream_graph::{Node, NodeEdge, NodeKind, StreamGraph};

/// A job's dataflow on one worker.
pub(crate) struct Rendered {
    /// What `drop_dataflow` takes.
    pub(crate) dataflow: usize,
    /// Sees an epoch complete when all sinks of all workers are through with it.
    pub(crate) probe: ProbeHandle<u64>,
}

/// Builds `graph`; `metrics` gives the counters of each node.
pub(crate) fn render(
    worker: &mut Worker,
    name: &str,
    graph: &StreamGraph,
    job: &Rc<JobInstance>,
    metrics: &dyn Fn(&Node) -> Arc<OperatorMetrics>,
) -> Rendered {
    let dataflow = worker.next_dataflow_index();
    let (index, peers) = (worker.index(), worker.peers());
    let probe = ProbeHandle::new();
    worker.dataflow_named::<u64, _, _>(name, |scope| {
        let mut renderer = Renderer {
            scope,
            graph,
            job,
            index,
            peers,
            rows: Vec::new(),
            watermarks: Vec::new(),
        };
        for (position, node) in graph.nodes.iter().enumerate() {
            let context = OperatorContext {
                name: node.name.clone(),
                uid: node.uid.clone(),
                worker: index,
                workers: peers,
                parallelism: renderer.parallelism(node),
                metrics: metrics(node),
            };
            match &node.kind {
                NodeKind::Source { .. } => renderer.source(position, node, context),
                NodeKind::Chain(_) => renderer.chain(node, context),
                NodeKind::Operator(_) => renderer.operator(position, node, context),
            }
        }
        renderer.probe_ends(&probe);
    });
    Rendered { dataflow, probe }
}

struct Renderer<'scope, 'a> {
    scope: Scope<'scope, u64>,
    graph: &'a StreamGraph,
    job: &'a Rc<JobInstance>,
    index: usize,
    peers: usize,
    /// The output streams of the nodes so far; a node without outputs has one that only carries progress.
    rows: Vec<Vec<Stream<'scope, u64, Batch>>>,
    watermarks: Vec<Option<Stream<'scope, u64, Batch>>>,
}

impl<'scope> Renderer<'scope, '_> {
    fn parallelism(&self, node: &Node) -> usize {
        node.parallelism.unwrap_or(self.peers).min(self.peers)
    }

    fn source(&mut self, position: usize, node: &Node, context: OperatorContext) {
        let NodeKind::Source { factory, .. } = &node.kind else {
            return;
        };
        let mut builder = OperatorBuilder::new(node.name.clone(), self.scope);
        let (rows, row_stream) = builder.new_output::<Batch>();
        let (marks, mark_stream) = builder.new_output::<Batch>();
        let info = builder.operator_info();
        let activators = (
            self.scope.activator_for(Rc::clone(&info.address)),
            self.scope.activator_for(info.address),
        );
        let outputs = vec![OutputBuilder::from(rows), OutputBuilder::from(marks)];
        let (job, reader) = (Rc::clone(self.job), factory());
        builder.build(move |capabilities| {
            let mut driver = SourceDriver::new(
                job,
                position,
                context,
                reader,
                activators,
                outputs,
                capabilities,
            );
            move |_frontiers| driver.step()
        });
        self.rows.push(vec![row_stream]);
        self.watermarks.push(Some(mark_stream));
    }

    fn chain(&mut self, node: &Node, context: OperatorContext) {
        let NodeKind::Chain(factories) = &node.kind else {
            return;
        };
        let mut builder = OperatorBuilder::new(node.name.clone(), self.scope);
        let targets = context.parallelism;
        let inputs: Vec<_> = node
            .edges
            .iter()
            .map(|edge| (self.connect(&mut builder, edge, targets), self.codec(edge)))
            .collect();
        (0..inputs.len()).for_each(|input| ignore_progress(&mut builder, input));
        let (output, stream) = builder.new_output::<Batch>();
        let mut driver = ChainDriver {
            job: Rc::clone(self.job),
            context,
            factories: factories.clone(),
            steps: Vec::new(),
            inputs,
            output: OutputBuilder::from(output),
            failed: None,
        };
        builder.build(move |capabilities| {
            drop(capabilities);
            move |_frontiers| driver.step()
        });
        self.rows.push(vec![stream]);
        self.watermarks.push(None);
    }

    fn operator(&mut self, position: usize, node: &Node, context: OperatorContext) {
        let NodeKind::Operator(factory) = &node.kind else {
            return;
        };
        let mut builder = OperatorBuilder::new(node.name.clone(), self.scope);
        let targets = context.parallelism;
        let rows: Vec<_> = node
            .edges
            .iter()
            .map(|edge| RowInput {
                pull: self.connect(&mut builder, edge, targets),
                input: edge.input,
                codec: self.codec(edge),
            })
            .collect();
        let watermarks = self.watermark_inputs(&mut builder, node);
        let (mut outputs, mut streams) = (Vec::new(), Vec::new());
        for _ in 0..node.outputs.len().max(1) {
            let (output, stream) = builder.new_output::<Batch>();
            outputs.push(OutputBuilder::from(output));
            streams.push(stream);
        }
        let mark_stream = node.assigns_watermarks.then(|| {
            let (output, stream) = builder.new_output::<Batch>();
            outputs.push(OutputBuilder::from(output));
            stream
        });
        let activator = self.scope.activator_for(builder.operator_info().address);
        let mut parts = OperatorParts {
            job: Rc::clone(self.job),
            node: position,
            context,
            operator: factory(),
            activator,
            rows,
            watermarks,
            assigners: node.assigners.clone(),
            inputs: node.inputs,
            outputs,
            assigns: node.assigns_watermarks,
            capabilities: Vec::new(),
        };
        builder.build(move |capabilities| {
            parts.capabilities = capabilities;
            let mut driver = OperatorDriver::new(parts);
            move |frontiers| driver.step(frontiers)
        });
        self.rows.push(streams);
        self.watermarks.push(mark_stream);
    }

    fn watermark_inputs(
        &self,
        builder: &mut OperatorBuilder<'scope, u64>,
        node: &Node,
    ) -> Vec<WatermarkInput> {
        let of_all_inputs = node.assigners.iter().flatten();
        let mut assigners: Vec<usize> = of_all_inputs.map(|assigner| assigner.node).collect();
        assigners.sort_unstable();
        assigners.dedup();
        assigners
            .into_iter()
            .filter_map(|assigner| {
                let stream = self.watermarks[assigner].clone()?;
                let readers = node
                    .assigners
                    .iter()
                    .enumerate()
                    .filter_map(|(input, own)| {
                        Some((input, own.iter().position(|other| other.node == assigner)?))
                    })
                    .collect();
                // Watermarks are addressed by their sender, as the copies of a broadcast are.
                let pull = connect(
                    builder,
                    stream,
                    &Exchange::Broadcast,
                    self.peers,
                    self.index,
                );
                Some(WatermarkInput { pull, readers })
            })
            .collect()
    }

    fn codec(&self, edge: &NodeEdge) -> Arc<dyn crate::batch::BatchCodec> {
        Arc::clone(&self.graph.nodes[edge.node].outputs[edge.port])
    }

    fn connect(
        &self,
        builder: &mut OperatorBuilder<'scope, u64>,
        edge: &NodeEdge,
        targets: usize,
    ) -> crate::driver::Puller {
        let mut stream = self.rows[edge.node][edge.port].clone();
        if matches!(edge.exchange, Exchange::Broadcast) {
            stream = broadcast(stream, targets);
        }
        connect(builder, stream, &edge.exchange, targets, self.index)
    }

    /// Attaches the probe to every output that nobody reads.
    fn probe_ends(self, probe: &ProbeHandle<u64>) {
        let read: std::collections::BTreeSet<(usize, usize)> = self
            .graph
            .nodes
            .iter()
            .flat_map(|node| &node.edges)
            .map(|edge| (edge.node, edge.port))
            .collect();
        for (node, streams) in self.rows.into_iter().enumerate() {
            for (port, stream) in streams.into_iter().enumerate() {
                if !read.contains(&(node, port)) {
                    stream.probe_with(probe);
                }
            }
        }
    }
}

/// Copies each batch once per target and addresses the copies.
fn broadcast<'scope>(
    stream: Stream<'scope, u64, Batch>,
    targets: usize,
) -> Stream<'scope, u64, Batch> {
    let mut builder = OperatorBuilder::new("Broadcast".to_string(), stream.scope());
    let mut pull = connect(&mut builder, stream, &Exchange::Forward, targets, 0);
    ignore_progress(&mut builder, 0);
    let (output, copies) = builder.new_output::<Batch>();
    let mut output = OutputBuilder::from(output);
    builder.build(move |capabilities| {
        drop(capabilities);
        move |_frontiers| {
            pull(&mut |capability, batch| {
                let held = capability
                    .retain_least(0)
                    .expect("messages of the engine have one time");
                for target in 1..targets {
                    send(&mut output, &held, batch.clone().addressed_to(target));
                }
                send(&mut output, &held, batch.addressed_to(0));
            });
        }
    });
    copies
}

//! The description of a job: a list of transformations and the edges between them.
//!
//! It holds no timely type and is shared by all workers, each of which renders the same dataflow from it. Ids are
//! positions in the list and so depend on the program alone.

use std::sync::Arc;

use crate::batch::{Batch, BatchCodec};
use crate::error::Result;
use crate::exchange::Exchange;
use crate::operator::{EpochOperator, OperatorContext, SideOutputPorts};
use crate::source::{Boundedness, SourceFactory};

/// The position of a transformation in its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransformationId(pub(crate) usize);

/// One output of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputPort {
    /// The transformation.
    pub transformation: TransformationId,
    /// 0 for the main output; side outputs follow.
    pub port: usize,
}

/// An edge into a transformation.
#[derive(Clone)]
pub struct Edge {
    /// Where rows come from.
    pub from: OutputPort,
    /// Which logical input of the receiver they belong to. A union has several edges into one input.
    pub input: usize,
    /// How they are shared out among the workers.
    pub exchange: Exchange,
}

/// A stateless step over batches, made once per worker.
pub type Step = Box<dyn FnMut(Batch) -> Result<Batch>>;

/// Makes a [`Step`] on each worker.
pub type StepFactory = Arc<dyn Fn(&OperatorContext) -> Result<Step> + Send + Sync>;

/// Makes an operator on each worker.
pub type OperatorFactory = Arc<dyn Fn() -> Box<dyn EpochOperator> + Send + Sync>;

/// What a transformation does.
#[derive(Clone)]
pub enum TransformationKind {
    /// Reads rows from outside.
    Source {
        /// Makes the readers.
        factory: SourceFactory,
        /// Whether it ends by itself.
        boundedness: Boundedness,
    },
    /// Maps batch to batch without state; steps in a row are fused into one chain.
    Step(StepFactory),
    /// Anything with state, time or several inputs.
    Operator(OperatorFactory),
}

/// One piece of a job.
#[derive(Clone)]
pub struct Transformation {
    /// Shown in plans, messages and metrics.
    pub name: String,
    /// The user's stable id; without one an id is derived from the position and the shape of the graph.
    pub uid: Option<String>,
    /// What it does.
    pub kind: TransformationKind,
    /// Where its rows come from.
    pub edges: Vec<Edge>,
    /// The codec of each output; empty for a sink.
    pub outputs: Vec<Arc<dyn BatchCodec>>,
    /// How many workers run it; `None`: as many as the job.
    pub parallelism: Option<usize>,
    /// True when its watermark counts for all that follow, instead of those of its inputs.
    pub assigns_watermarks: bool,
    /// False when its steps must not be fused with their neighbours.
    pub chaining: bool,
    /// The side outputs that were asked for, when the operator can have any: `outputs[1..]` are theirs, in order.
    pub side_outputs: Option<SideOutputPorts>,
    /// True when the operator reads watermarks; those that do not are spared the edges for them.
    pub uses_event_time: bool,
    /// The values, a `Vec<T>`, of a source of values in the program: for layers that derive more from them than
    /// the Rust type tells.
    pub elements: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

impl Transformation {
    /// A source with one output.
    pub fn source(
        name: impl Into<String>,
        boundedness: Boundedness,
        codec: Arc<dyn BatchCodec>,
        factory: SourceFactory,
    ) -> Self {
        Transformation {
            name: name.into(),
            uid: None,
            kind: TransformationKind::Source {
                factory,
                boundedness,
            },
            edges: Vec::new(),
            outputs: vec![codec],
            parallelism: None,
            assigns_watermarks: true,
            chaining: true,
            side_outputs: None,
            uses_event_time: true,
            elements: None,
        }
    }

    /// A stateless step.
    pub fn step(
        name: impl Into<String>,
        edges: Vec<Edge>,
        codec: Arc<dyn BatchCodec>,
        factory: StepFactory,
    ) -> Self {
        Transformation {
            name: name.into(),
            uid: None,
            kind: TransformationKind::Step(factory),
            edges,
            outputs: vec![codec],
            parallelism: None,
            assigns_watermarks: false,
            chaining: true,
            side_outputs: None,
            uses_event_time: true,
            elements: None,
        }
    }

    /// An operator; a sink has no `outputs`.
    pub fn operator(
        name: impl Into<String>,
        edges: Vec<Edge>,
        outputs: Vec<Arc<dyn BatchCodec>>,
        factory: OperatorFactory,
    ) -> Self {
        Transformation {
            name: name.into(),
            uid: None,
            kind: TransformationKind::Operator(factory),
            edges,
            outputs,
            parallelism: None,
            assigns_watermarks: false,
            chaining: true,
            side_outputs: None,
            uses_event_time: true,
            elements: None,
        }
    }

    /// Sets the stable id.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Runs on the first `parallelism` workers only.
    #[must_use]
    pub fn with_parallelism(mut self, parallelism: usize) -> Self {
        self.parallelism = Some(parallelism);
        self
    }

    /// Declares that the operator makes watermarks (`Output::emit_watermark`).
    #[must_use]
    pub fn assigning_watermarks(mut self) -> Self {
        self.assigns_watermarks = true;
        self
    }

    /// Declares that the operator writes to the side outputs that will be asked for.
    #[must_use]
    pub fn with_side_outputs(mut self, ports: SideOutputPorts) -> Self {
        self.side_outputs = Some(ports);
        self
    }

    /// Declares that the operator does not look at watermarks.
    #[must_use]
    pub fn without_event_time(mut self) -> Self {
        self.uses_event_time = false;
        self
    }

    /// The number of logical inputs.
    pub fn inputs(&self) -> usize {
        self.edges
            .iter()
            .map(|edge| edge.input + 1)
            .max()
            .unwrap_or(0)
    }
}

impl Edge {
    /// An edge into input 0 that keeps rows on their worker.
    pub fn forward(from: OutputPort) -> Self {
        Edge {
            from,
            input: 0,
            exchange: Exchange::Forward,
        }
    }

    /// An edge into logical input `input`.
    pub fn new(from: OutputPort, input: usize, exchange: Exchange) -> Self {
        Edge {
            from,
            input,
            exchange,
        }
    }
}

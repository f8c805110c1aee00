//! timely's handles without their types: each input's puller depends on how it is exchanged, but the drivers only
//! want batches with their epoch.

use timely::communication::Push;
use timely::container::NoopBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::Message;
use timely::dataflow::channels::pact::{DistributorPact, Pipeline};
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, InputCapability};
use timely::progress::Stamp;
use timely::progress::operate::FrontierInterest;

use crate::batch::Batch;
use crate::exchange::{Exchange, Partitioner};

/// Calls its argument with every batch that is there.
pub(crate) type Puller = Box<dyn FnMut(&mut dyn FnMut(InputCapability<u64>, Batch))>;

/// An output of an operator.
pub(crate) type OutputPort = OutputBuilder<u64, NoopBuilder<Batch>>;

/// Connects `stream` to a new input of `builder`.
pub(crate) fn connect<'scope>(
    builder: &mut OperatorBuilder<'scope, u64>,
    stream: Stream<'scope, u64, Batch>,
    exchange: &Exchange,
    targets: usize,
    worker: usize,
) -> Puller {
    match exchange {
        Exchange::Forward => {
            let mut input = builder.new_input(stream, Pipeline);
            Box::new(move |each| {
                input.for_each(|capability, batch| each(capability, std::mem::take(batch)));
            })
        }
        exchange => {
            let distributor = BatchDistributor::new(exchange, targets, worker);
            let mut input = builder.new_input(stream, DistributorPact(move |_peers| distributor));
            Box::new(move |each| {
                input.for_each(|capability, batch| each(capability, std::mem::take(batch)));
            })
        }
    }
}

/// Says that the progress of this input need not wake the operator.
pub(crate) fn ignore_progress(builder: &mut OperatorBuilder<'_, u64>, input: usize) {
    builder.set_notify_for(input, FrontierInterest::Never);
}

/// Sends one batch.
pub(crate) fn send(output: &mut OutputPort, capability: &Capability<u64>, mut batch: Batch) {
    let mut handle = output.activate();
    handle
        .session_with_builder(capability)
        .give_container(&mut batch);
}

/// Shares batches out among the workers.
struct BatchDistributor {
    targets: usize,
    rule: Rule,
}

enum Rule {
    /// To the worker the sender wrote on the batch.
    Addressed,
    Global,
    Rebalance {
        next: usize,
    },
    Partition(Box<dyn Partitioner>),
}

impl BatchDistributor {
    fn new(exchange: &Exchange, targets: usize, worker: usize) -> Self {
        let rule = match exchange {
            // A broadcast's copies are addressed by the operator in front of the edge.
            Exchange::Forward | Exchange::Broadcast => Rule::Addressed,
            Exchange::Global => Rule::Global,
            Exchange::Rebalance => Rule::Rebalance { next: worker },
            Exchange::Partition(factory) => Rule::Partition(factory()),
        };
        BatchDistributor { targets, rule }
    }
}

impl Distributor<Batch> for BatchDistributor {
    fn partition<T: Clone, P: Push<Message<T, Batch>>>(
        &mut self,
        container: &mut Batch,
        stamp: &Stamp<T>,
        pushers: &mut [P],
    ) {
        let batch = std::mem::take(container);
        let mut push = |target: usize, mut batch: Batch| {
            Message::push_at(&mut batch, stamp.clone(), &mut pushers[target]);
        };
        match &mut self.rule {
            Rule::Addressed => push(batch.target(), batch),
            Rule::Global => push(0, batch),
            Rule::Rebalance { next } => {
                *next = (*next + 1) % self.targets;
                push(*next, batch);
            }
            Rule::Partition(partitioner) => partitioner.partition(batch, self.targets, &mut push),
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Batch>>>(&mut self, stamp: &Stamp<T>, pushers: &mut [P]) {
        if let Rule::Partition(partitioner) = &mut self.rule {
            partitioner.flush(&mut |target, mut batch| {
                Message::push_at(&mut batch, stamp.clone(), &mut pushers[target]);
            });
        }
    }
}

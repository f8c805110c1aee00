//! Steps a chain of stateless steps. It keeps nothing, so it forwards each batch under the capability it came with
//! and is not woken by progress.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use timely::dataflow::operators::Capability;

use crate::batch::{Batch, BatchCodec};
use crate::driver::job_instance::JobInstance;
use crate::driver::operator_driver::{guarded, nanos_since};
use crate::driver::ports::{OutputPort, Puller, send};
use crate::epoch::now;
use crate::error::Result;
use crate::operator::OperatorContext;
use crate::transformation::{Step, StepFactory};

pub(crate) struct ChainDriver {
    pub(crate) job: Rc<JobInstance>,
    pub(crate) context: OperatorContext,
    pub(crate) factories: Vec<StepFactory>,
    pub(crate) steps: Vec<Step>,
    pub(crate) inputs: Vec<(Puller, Arc<dyn BatchCodec>)>,
    pub(crate) output: OutputPort,
    /// Held after a failure, so that what follows does not take the epoch for complete.
    pub(crate) failed: Option<Capability<u64>>,
}

impl ChainDriver {
    pub(crate) fn step(&mut self) {
        let ChainDriver {
            job,
            context,
            factories,
            steps,
            inputs,
            output,
            failed,
        } = self;
        for (pull, codec) in inputs {
            pull(&mut |capability, batch| {
                if failed.is_some() || job.has_failed() {
                    return;
                }
                let held = capability
                    .retain_least(0)
                    .expect("messages of the engine have one time");
                let rows = batch.rows() as u64;
                let start = now();
                let result = guarded(|| {
                    if steps.len() < factories.len() {
                        *steps = factories
                            .iter()
                            .map(|factory| factory(context))
                            .collect::<Result<_>>()?;
                    }
                    apply(steps, batch.decoded(codec.as_ref())?)
                });
                let metrics = &context.metrics;
                metrics.records_in.fetch_add(rows, Relaxed);
                metrics.batches_in.fetch_add(1, Relaxed);
                metrics.busy_nanos.fetch_add(nanos_since(start), Relaxed);
                match result {
                    Ok(batch) if batch.is_empty() => (),
                    Ok(batch) => {
                        metrics.records_out.fetch_add(batch.rows() as u64, Relaxed);
                        send(output, &held, batch);
                    }
                    Err(error) => {
                        job.fail(context, error);
                        *failed = Some(held);
                    }
                }
            });
        }
    }
}

fn apply(steps: &mut [Step], mut batch: Batch) -> Result<Batch> {
    for step in steps {
        batch = step(batch)?;
        if batch.is_empty() {
            break;
        }
    }
    Ok(batch)
}

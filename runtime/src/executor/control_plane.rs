//! Carries messages between workers, over all processes: one timely dataflow per program, beside those of the jobs.
//!
//! Every message is sent at time 0, whose capability is held until the shutdown, so that the control plane causes no
//! progress traffic of its own. timely keeps the order between two workers; the coordinator on worker 0 is the only
//! sender of commands, so all workers see all commands in one order, which is what keeps their dataflows alike.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Operator;
use timely::dataflow::operators::generic::operator::source;
use timely::scheduling::Activator;
use timely::worker::Worker;

use crate::executor::messages::{Command, Message};

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Letter {
    Command(Command),
    Message(Message),
}

type Outbox = Rc<RefCell<Option<Vec<(u64, Letter)>>>>;

/// One worker's end of the control plane.
pub(crate) struct ControlPlane {
    worker: usize,
    workers: usize,
    /// `None` once closed.
    outbox: Outbox,
    sender: Rc<RefCell<Option<Activator>>>,
    received: Rc<RefCell<VecDeque<Letter>>>,
}

impl ControlPlane {
    /// Builds the dataflow. Must be the first thing every worker does.
    pub(crate) fn build(worker: &mut Worker) -> Self {
        let outbox: Outbox = Rc::new(RefCell::new(Some(Vec::new())));
        let sender = Rc::new(RefCell::new(None));
        let received = Rc::new(RefCell::new(VecDeque::new()));
        let (sending, activator, receiving) =
            (Rc::clone(&outbox), Rc::clone(&sender), Rc::clone(&received));
        worker.dataflow_named::<u64, _, _>("control", |scope| {
            let letters = source::<_, CapacityContainerBuilder<Vec<(u64, Letter)>>, _, _>(
                scope,
                "send",
                |capability, info| {
                    *activator.borrow_mut() = Some(scope.activator_for(info.address));
                    let mut capability = Some(capability);
                    move |output| match sending.borrow_mut().as_mut() {
                        Some(letters) => {
                            if let Some(capability) = &capability {
                                output.session(capability).give_iterator(letters.drain(..));
                            }
                        }
                        None => capability = None,
                    }
                },
            );
            letters.sink(
                Exchange::new(|(target, _): &(u64, Letter)| *target),
                "receive",
                move |(input, _frontier)| {
                    input.for_each(|_, letters| {
                        receiving
                            .borrow_mut()
                            .extend(letters.drain(..).map(|(_, letter)| letter));
                    });
                },
            );
        });
        ControlPlane {
            worker: worker.index(),
            workers: worker.peers(),
            outbox,
            sender,
            received,
        }
    }

    /// Sends a command to all workers, this one included.
    pub(crate) fn broadcast(&self, command: &Command) {
        for target in (0..self.workers).filter(|target| *target != self.worker) {
            self.send(target, Letter::Command(command.clone()));
        }
        self.received
            .borrow_mut()
            .push_back(Letter::Command(command.clone()));
    }

    /// Sends a message to the coordinator.
    pub(crate) fn tell_coordinator(&self, message: Message) {
        if self.worker == 0 {
            self.received
                .borrow_mut()
                .push_back(Letter::Message(message));
        } else {
            self.send(0, Letter::Message(message));
        }
    }

    fn send(&self, target: usize, letter: Letter) {
        if let Some(letters) = self.outbox.borrow_mut().as_mut() {
            letters.push((target as u64, letter));
        }
        self.wake();
    }

    fn wake(&self) {
        if let Some(sender) = self.sender.borrow().as_ref() {
            sender.activate();
        }
    }

    /// The next command for this worker, and the next messages if it is the coordinator's.
    pub(crate) fn receive(&self) -> Option<Received> {
        self.received
            .borrow_mut()
            .pop_front()
            .map(|letter| match letter {
                Letter::Command(command) => Received::Command(command),
                Letter::Message(message) => Received::Message(message),
            })
    }

    /// Lets the dataflow end; what was sent before still arrives.
    pub(crate) fn close(&self) {
        // Letters not yet given to timely must go out first: the sender runs once more with them, then without.
        if self.outbox.borrow().as_ref().is_some_and(Vec::is_empty) {
            *self.outbox.borrow_mut() = None;
        }
        self.wake();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.outbox.borrow().is_none()
    }
}

/// See [`ControlPlane::receive`].
pub(crate) enum Received {
    Command(Command),
    Message(Message),
}

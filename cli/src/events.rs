//! What the launcher waits for, brought into one queue by small threads.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{LauncherError, Result};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// The process of this index ended and waits to be reaped.
    Ended(usize),
    /// Someone asks the launcher to stop by this signal.
    Signal(i32),
    /// Whoever read the launcher's own output is gone.
    OutputClosed,
}

/// The queue of events.
pub(crate) struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Events {
    /// Starts to listen for signals.
    pub(crate) fn listen() -> Result<Self> {
        let (sender, receiver) = channel();
        let mut signals =
            Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(|source| LauncherError::System {
                action: "listening for signals",
                source,
            })?;
        let to_queue = sender.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if to_queue.send(Event::Signal(signal)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { sender, receiver })
    }

    /// A handle by which a thread reports events.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// The next event, or `None` at the deadline.
    pub(crate) fn next(&self, deadline: Option<Instant>) -> Option<Event> {
        let received = match deadline {
            Some(deadline) => self
                .receiver
                .recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => self.receiver.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                unreachable!("this queue holds a sender of its own")
            }
        }
    }
}

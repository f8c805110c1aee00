//! What happens to a panic.
//!
//! A panic in operator or user code is caught by the driver and fails its job; its message goes into the job's error,
//! so the default hook, which prints it, is silenced for it. Any other panic on a worker or on timely's network
//! threads means that a peer is gone or the engine is broken: the workers of this process cannot go on, and the
//! process ends with one message and [`PEER_LOST_EXIT_CODE`], so that a launcher can restart the whole set.

use std::cell::Cell;
use std::sync::Once;

/// The exit code of a process of a cluster that lost a peer (`EX_TEMPFAIL`: try again later).
pub const PEER_LOST_EXIT_CODE: i32 = 75;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code whose panics are caught by the caller.
pub(crate) fn while_guarded<R>(code: impl FnOnce() -> R) -> R {
    let before = GUARDED.replace(true);
    let result = code();
    GUARDED.set(before);
    result
}

/// Silences panics that are caught. Called once per process, by the first executor.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                previous(panic);
            }
        }));
    });
}

/// Ends the process when a worker or a network thread of a cluster breaks. Called by the executor of a cluster.
pub(crate) fn install_process_guard(process: usize) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.payload_as_str().unwrap_or_default();
            if GUARDED.get() {
                previous(panic);
            } else if is_engine_thread() || text.contains("timely communication error") {
                lose_peer(process, text);
            } else {
                previous(panic);
            }
        }));
    });
}

/// True on workers and on timely's network threads, whose names timely chooses.
fn is_engine_thread() -> bool {
    std::thread::current()
        .name()
        .is_some_and(|name| name.starts_with("timely:"))
}

#[expect(
    clippy::print_stderr,
    reason = "the last words of the process, when nothing else can carry them"
)]
fn lose_peer(process: usize, cause: &str) -> ! {
    eprintln!(
        "aquifer: process {process} lost a peer and ends with code {PEER_LOST_EXIT_CODE} ({cause}); \
         restart all processes to go on from the last checkpoint"
    );
    std::process::exit(PEER_LOST_EXIT_CODE)
}

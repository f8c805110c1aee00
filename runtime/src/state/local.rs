//! Handles that can be sent before they are used, to values that cannot.
//!
//! A user's function is cloned to every worker, so it must be `Send + Sync`, and the state handles in its fields
//! with it. The state itself belongs to one worker's thread and must cost neither a lock nor an atomic operation
//! per record. So a handle is a ticket: it names an entry in a table of its thread, where the operator put the
//! value. The alternatives were a mutex around each state (two locked instructions per access) and passing the
//! context to every access (`state.value(ctx)`).
//!
//! A ticket carries a number that is never given twice in a process, so one that is used on a foreign thread or
//! after its operator ended finds nothing, and not another state.

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// 0 is the ticket of handles that are not bound, and of free entries.
static NEXT_TICKET: AtomicU64 = AtomicU64::new(1);

struct Entry {
    ticket: u64,
    value: Option<Rc<dyn Any>>,
}

/// A ticket for a `T` of the current thread.
pub(crate) struct Local<T> {
    index: usize,
    ticket: u64,
    marker: PhantomData<fn() -> T>,
}

impl<T> Clone for Local<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Local<T> {}

impl<T> Default for Local<T> {
    fn default() -> Self {
        Local {
            index: 0,
            ticket: 0,
            marker: PhantomData,
        }
    }
}

impl<T: 'static> Local<T> {
    /// Puts `value` into the table of this thread, until the guard is dropped.
    pub(crate) fn bind(value: Rc<T>) -> (Self, LocalGuard) {
        let ticket = NEXT_TICKET.fetch_add(1, Ordering::Relaxed);
        let entry = Entry {
            ticket,
            value: Some(value),
        };
        let index = ENTRIES.with_borrow_mut(|entries| {
            match entries.iter().position(|entry| entry.ticket == 0) {
                Some(index) => {
                    entries[index] = entry;
                    index
                }
                None => {
                    entries.push(entry);
                    entries.len() - 1
                }
            }
        });
        (
            Local {
                index,
                ticket,
                marker: PhantomData,
            },
            LocalGuard { index, ticket },
        )
    }

    /// Reads the value.
    ///
    /// # Panics
    /// When the handle is not bound on this thread: it is used before `open`, or out of its operator.
    #[inline]
    pub(crate) fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        ENTRIES.with_borrow(|entries| {
            let value = entries
                .get(self.index)
                .filter(|entry| entry.ticket == self.ticket)
                .and_then(|entry| entry.value.as_ref())
                .and_then(|value| value.downcast_ref::<T>());
            match value {
                Some(value) => read(value),
                None => panic!(
                    "a state handle was used before it was made in open(), or outside of the function it belongs to"
                ),
            }
        })
    }
}

/// Keeps a bound value alive.
pub(crate) struct LocalGuard {
    index: usize,
    ticket: u64,
}

impl Drop for LocalGuard {
    fn drop(&mut self) {
        // The table may be gone already when a thread ends.
        let value = ENTRIES.try_with(|entries| {
            let mut entries = entries.try_borrow_mut().ok()?;
            let entry = entries
                .get_mut(self.index)
                .filter(|entry| entry.ticket == self.ticket)?;
            entry.ticket = 0;
            entry.value.take()
        });
        drop(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_on_its_thread_while_the_guard_lives() {
        let (local, guard) = Local::bind(Rc::new(7u32));
        assert_eq!(local.with(|value| *value), 7);
        let elsewhere = std::thread::spawn(move || local.with(|value| *value)).join();
        assert!(elsewhere.is_err(), "another thread finds nothing");
        drop(guard);
        let (other, _guard) = Local::bind(Rc::new(8u32));
        assert_eq!(other.with(|value| *value), 8);
        let stale = std::panic::catch_unwind(|| local.with(|value| *value));
        assert!(stale.is_err(), "the entry was given to another state");
    }
}

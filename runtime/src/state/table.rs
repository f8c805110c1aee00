//! One state's contents by slot, and what the backend does with any state whatever its type.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;

use super::content::Content;
use super::key_map::Located;
use super::slots::Slots;
use super::ttl::StateTtlConfig;

/// The entries of one state, by slot.
pub(crate) struct Table<C> {
    slots: Rc<Slots>,
    cells: RefCell<Vec<C>>,
    ttl: Option<StateTtlConfig>,
    /// Where the background clean-up goes on.
    cursor: Cell<usize>,
}

impl<C: Content> Table<C> {
    pub(crate) fn new(slots: Rc<Slots>, ttl: Option<StateTtlConfig>) -> Self {
        Table {
            slots,
            cells: RefCell::new(Vec::new()),
            ttl,
            cursor: Cell::new(0),
        }
    }

    pub(crate) fn ttl(&self) -> Option<&StateTtlConfig> {
        self.ttl.as_ref()
    }

    pub(crate) fn now(&self) -> i64 {
        self.slots.now()
    }

    /// Reads the current key's entry; nothing to read is `None`.
    #[inline]
    pub(crate) fn read<R>(&self, read: impl FnOnce(Option<&C>) -> R) -> R {
        let cells = self.cells.borrow();
        read(
            cells
                .get(self.slots.current())
                .filter(|cell| !cell.is_empty()),
        )
    }

    /// Changes the current key's entry.
    #[inline]
    pub(crate) fn write<R>(&self, write: impl FnOnce(&mut C) -> R) -> R {
        self.write_at(self.slots.current(), write)
    }

    /// Changes the entry of `slot`.
    #[inline]
    pub(crate) fn write_at<R>(&self, slot: usize, write: impl FnOnce(&mut C) -> R) -> R {
        let mut cells = self.cells.borrow_mut();
        if cells.len() <= slot {
            cells.resize_with(slot + 1, C::default);
        }
        let cell = &mut cells[slot];
        let was_empty = cell.is_empty();
        let result = write(cell);
        match (was_empty, cell.is_empty()) {
            (true, false) => self.slots.acquire(slot),
            (false, true) => self.slots.release(slot),
            _ => {}
        }
        result
    }

    /// Takes the current key's entry and leaves nothing, for a change that runs user code.
    #[inline]
    pub(crate) fn take(&self) -> C {
        self.write(std::mem::take)
    }
}

/// A state of any type, as the backend sees it.
pub(crate) trait KeyedState {
    /// The type of the contents, as text.
    fn schema(&self) -> String;
    /// A copy of everything, to be written elsewhere.
    fn freeze(&self) -> Box<dyn FrozenState>;
    /// Brings the entries of these keys into the processor's cache.
    fn touch(&self, keys: &[Located]);
    /// Puts back the entry of `slot`.
    ///
    /// # Errors
    /// The reason, when the bytes are no such entry.
    fn restore(&self, slot: u32, bytes: &[u8]) -> Result<(), String>;
    /// Drops expired contents of up to `budget` slots and names the slots that became empty.
    fn clean_up(&self, budget: usize, emptied: &mut Vec<u32>);
    /// Bytes held, without what values point to.
    fn bytes(&self) -> usize;
}

/// A copy of a state.
pub(crate) trait FrozenState: Send {
    /// Appends the bytes of the entry of `slot`; false when there is nothing.
    ///
    /// # Errors
    /// The reason, when the entry cannot be encoded.
    fn write(&mut self, slot: u32, out: &mut Vec<u8>) -> Result<bool, String>;
}

impl<C: Content> KeyedState for Table<C> {
    fn schema(&self) -> String {
        C::schema()
    }

    fn freeze(&self) -> Box<dyn FrozenState> {
        Box::new(Frozen {
            cells: self.cells.borrow().clone(),
            ttl: self.ttl,
            now: self.slots.now(),
        })
    }

    fn touch(&self, keys: &[Located]) {
        let cells = self.cells.borrow();
        let filled = keys.iter().filter(|key| {
            let cell = key.slot().and_then(|slot| cells.get(slot));
            cell.is_some_and(|cell| !cell.is_empty())
        });
        black_box(filled.count());
    }

    fn restore(&self, slot: u32, bytes: &[u8]) -> Result<(), String> {
        let content: C = bincode::deserialize(bytes).map_err(|error| error.to_string())?;
        self.write_at(slot as usize, |cell| *cell = content);
        Ok(())
    }

    fn clean_up(&self, budget: usize, emptied: &mut Vec<u32>) {
        let Some(ttl) = &self.ttl else { return };
        let mut cells = self.cells.borrow_mut();
        let count = cells.len();
        for _ in 0..budget.min(count) {
            let slot = self.cursor.get() % count;
            self.cursor.set(slot + 1);
            let cell = &mut cells[slot];
            if !cell.is_empty() {
                cell.expire(ttl, self.slots.now());
                if cell.is_empty() {
                    self.slots.release(slot);
                    emptied.push(slot as u32);
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        self.cells.borrow().capacity() * size_of::<C>()
    }
}

struct Frozen<C> {
    cells: Vec<C>,
    ttl: Option<StateTtlConfig>,
    now: i64,
}

impl<C: Content> FrozenState for Frozen<C> {
    fn write(&mut self, slot: u32, out: &mut Vec<u8>) -> Result<bool, String> {
        let Some(cell) = self.cells.get_mut(slot as usize) else {
            return Ok(false);
        };
        if let Some(ttl) = &self.ttl
            && !cell.is_empty()
        {
            cell.expire(ttl, self.now);
        }
        if cell.is_empty() {
            return Ok(false);
        }
        bincode::serialize_into(out, cell).map_err(|error| error.to_string())?;
        Ok(true)
    }
}

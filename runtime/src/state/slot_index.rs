//! Finds positions by hash: open addressing with linear probing over one array.
//!
//! A cell holds a position and 32 bits of the hash, so a look-up reads one line of memory before it reads the entry
//! itself; a table with control bytes beside its cells reads two. Growing needs neither the entries nor their hashes,
//! because the bits in the cell are those that choose the place. Removal moves the cells behind back, so there are no
//! tombstones (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R).

/// Positions by hash. Several positions may have one hash; the caller compares what stands there.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotIndex {
    /// Empty, or a power of two with at least one free cell.
    cells: Vec<Cell>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    tag: u32,
    /// [`NOWHERE`] in a free cell.
    slot: u32,
}

const FREE: Cell = Cell {
    tag: 0,
    slot: NOWHERE,
};

/// No position.
pub(crate) const NOWHERE: u32 = u32::MAX;

const LEAST_CELLS: usize = 8;

/// The bits of the hash that are kept. Routing between workers has used up the highest ones.
#[inline]
fn tag_of(hash: u64) -> u32 {
    hash as u32
}

impl SlotIndex {
    /// The number of positions.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn mask(&self) -> usize {
        self.cells.len().wrapping_sub(1)
    }

    /// The first position whose hash looks like `hash` and that `matches`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut matches: impl FnMut(u32) -> bool) -> Option<u32> {
        let (tag, mask) = (tag_of(hash), self.mask());
        let mut at = tag as usize & mask;
        while let Some(cell) = self.cells.get(at)
            && cell.slot != NOWHERE
        {
            if cell.tag == tag && matches(cell.slot) {
                return Some(cell.slot);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds a position.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, slot: u32) {
        // At most five eighths full: a search for what is not there looks at four cells on average.
        if (self.len + 1) * 8 > self.cells.len() * 5 {
            self.grow();
        }
        self.len += 1;
        self.place(Cell {
            tag: tag_of(hash),
            slot,
        });
    }

    #[inline]
    fn place(&mut self, cell: Cell) {
        let mask = self.mask();
        let mut at = cell.tag as usize & mask;
        while self.cells[at].slot != NOWHERE {
            at = (at + 1) & mask;
        }
        self.cells[at] = cell;
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.cells.len() * 2).max(LEAST_CELLS);
        let cells = std::mem::replace(&mut self.cells, vec![FREE; size]);
        for cell in cells {
            if cell.slot != NOWHERE {
                self.place(cell);
            }
        }
    }

    /// Removes a position that was added with this hash.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) {
        let mask = self.mask();
        let mut free = tag_of(hash) as usize & mask;
        loop {
            match self.cells.get(free) {
                Some(cell) if cell.slot == slot => break,
                Some(cell) if cell.slot != NOWHERE => free = (free + 1) & mask,
                _ => return,
            }
        }
        self.len -= 1;
        let mut at = free;
        loop {
            at = (at + 1) & mask;
            let cell = self.cells[at];
            if cell.slot == NOWHERE {
                break;
            }
            // A cell may move back to the free one unless that lies before the place where its search starts.
            let start = cell.tag as usize & mask;
            if (at.wrapping_sub(start) & mask) >= (at.wrapping_sub(free) & mask) {
                self.cells[free] = cell;
                free = at;
            }
        }
        self.cells[free] = FREE;
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn finds_what_is_there_and_nothing_else(
            // Few hashes, some of which differ in the high bits alone, and many that start near the end.
            steps in proptest::collection::vec((0u64..24, 0u64..2, any::<bool>()), 0..400)
        ) {
            let mut index = SlotIndex::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            for (next, (low, high, insert)) in steps.into_iter().enumerate() {
                let hash = (high << 40) | if low < 12 { low } else { u64::from(u32::MAX) - low };
                if insert || model.is_empty() {
                    index.insert(hash, next as u32);
                    model.insert(next as u32, hash);
                } else {
                    let at = next % model.len();
                    let (slot, hash) = model.iter().nth(at).map(|(slot, hash)| (*slot, *hash)).unwrap();
                    index.remove(hash, slot);
                    model.remove(&slot);
                    prop_assert_eq!(index.find(hash, |other| other == slot), None);
                }
                prop_assert_eq!(index.len(), model.len());
                for (slot, hash) in &model {
                    prop_assert_eq!(index.find(*hash, |other| other == *slot), Some(*slot));
                }
            }
        }
    }
}

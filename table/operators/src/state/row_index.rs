//! The rows of each group, with weights: a multiset per group.
//!
//! Groups are numbers of a [`GroupIndex`](super::GroupIndex) that the operator keeps, so that the two sides of a join
//! share one. The rows of a group form a list through their slots. A *retractable* index also finds a row by its
//! content, so that equal rows share a slot and their weights add up; an append-only one skips that, and every row
//! has a slot of its own.
//!
//! A row whose weight fell to 0 keeps its slot until [`RowIndex::release`]: operators call it at the end of an epoch,
//! so slots are stable within one.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType};
use hashbrown::HashTable;

use super::hash::{TABLE_SEED, hash_rows_with, mix};
use super::row_store::{NO_SLOT, RowStore, RowView};

/// Rows by group. See the module's description.
pub struct RowIndex {
    rows: RowStore,
    identity: Option<Identity>,
    weights: Vec<i64>,
    groups: Vec<u32>,
    next: Vec<u32>,
    /// First slot of each group.
    heads: Vec<u32>,
    created: Vec<u32>,
}

/// Finds rows by group and content, and unlinks them.
#[derive(Default)]
struct Identity {
    table: HashTable<u32>,
    hashes: Vec<u64>,
    previous: Vec<u32>,
}

impl RowIndex {
    /// An empty index for rows of these Arrow types.
    ///
    /// # Errors
    /// When a nested type has no `arrow-row` form.
    pub fn new(types: &[DataType], retractable: bool) -> Result<Self, ArrowError> {
        Ok(RowIndex {
            rows: RowStore::new(types)?,
            identity: retractable.then(Identity::default),
            weights: Vec::new(),
            groups: Vec::new(),
            next: Vec::new(),
            heads: Vec::new(),
            created: Vec::new(),
        })
    }

    /// True when rows can be taken away.
    pub fn is_retractable(&self) -> bool {
        self.identity.is_some()
    }

    /// Answers the slot of each row in `slots` (cleared before). Rows without one get a slot of weight 0, named by
    /// [`created`](Self::created) in the order of their rows.
    ///
    /// # Errors
    /// When the columns are not of the index's types.
    pub fn locate(
        &mut self,
        groups: &[u32],
        columns: &[ArrayRef],
        slots: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        slots.clear();
        self.created.clear();
        if self.identity.is_some() {
            self.find_or_create(groups, columns, slots)?;
        } else {
            slots.extend(groups.iter().map(|_| self.rows.reserve()));
            self.created.extend_from_slice(slots);
            let rows: Vec<u32> = (0..groups.len() as u32).collect();
            self.rows.put(columns, &rows, slots)?;
            self.groups.resize(self.rows.bound(), 0);
            slots
                .iter()
                .zip(groups)
                .for_each(|(slot, group)| self.groups[*slot as usize] = *group);
        }
        self.link_created();
        Ok(())
    }

    /// Adds to the weight of a row and answers the sum.
    #[inline]
    pub fn add_weight(&mut self, slot: u32, weight: i64) -> i64 {
        let sum = &mut self.weights[slot as usize];
        *sum += weight;
        *sum
    }

    fn find_or_create(
        &mut self,
        groups: &[u32],
        columns: &[ArrayRef],
        slots: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        let mut hashes = hash_rows_with(TABLE_SEED, columns, groups.len())?;
        hashes
            .iter_mut()
            .zip(groups)
            .for_each(|(hash, group)| *hash = mix(*hash, u64::from(*group)));
        let view = RowView::new(&self.rows, columns)?;
        let RowIndex {
            rows,
            identity,
            groups: group_of,
            created,
            ..
        } = self;
        let Identity {
            table,
            hashes: known,
            ..
        } = identity.as_mut().expect("the caller checked");
        for (row, hash) in hashes.into_iter().enumerate() {
            let group = groups[row];
            let found = table.find(hash, |slot| {
                known[*slot as usize] == hash
                    && group_of[*slot as usize] == group
                    && rows.equals(*slot, &view, row)
            });
            if let Some(slot) = found {
                slots.push(*slot);
                continue;
            }
            // Stored at once, so that the next equal row of this batch finds it.
            let slot = rows.reserve();
            rows.put_viewed(&view, &[row as u32], &[slot]);
            known.resize(rows.bound(), 0);
            known[slot as usize] = hash;
            group_of.resize(rows.bound(), 0);
            group_of[slot as usize] = group;
            table.insert_unique(hash, slot, |slot| known[*slot as usize]);
            slots.push(slot);
            created.push(slot);
        }
        Ok(())
    }

    /// Puts the new slots at the head of their groups' lists, with weight 0.
    fn link_created(&mut self) {
        let bound = self.rows.bound();
        self.weights.resize(bound, 0);
        self.next.resize(bound, NO_SLOT);
        if let Some(identity) = &mut self.identity {
            identity.previous.resize(bound, NO_SLOT);
        }
        for slot in &self.created {
            let group = self.groups[*slot as usize] as usize;
            if group >= self.heads.len() {
                self.heads.resize(group + 1, NO_SLOT);
            }
            let head = std::mem::replace(&mut self.heads[group], *slot);
            self.next[*slot as usize] = head;
            self.weights[*slot as usize] = 0;
            if let Some(identity) = &mut self.identity {
                identity.previous[*slot as usize] = NO_SLOT;
                if head != NO_SLOT {
                    identity.previous[head as usize] = *slot;
                }
            }
        }
    }

    /// The slots that the last [`locate`](Self::locate) created.
    pub fn created(&self) -> &[u32] {
        &self.created
    }

    /// The weight of the row in a slot.
    #[inline]
    pub fn weight(&self, slot: u32) -> i64 {
        self.weights[slot as usize]
    }

    /// The group of the row in a slot.
    #[inline]
    pub fn group(&self, slot: u32) -> u32 {
        self.groups[slot as usize]
    }

    /// The first slot of a group, or [`NO_SLOT`]. The newest row comes first; rows of weight 0 are among them until
    /// they are released.
    #[inline]
    pub fn first(&self, group: u32) -> u32 {
        self.heads.get(group as usize).copied().unwrap_or(NO_SLOT)
    }

    /// The slot after `slot` in its group, or [`NO_SLOT`].
    #[inline]
    pub fn next(&self, slot: u32) -> u32 {
        self.next[slot as usize]
    }

    /// The slots of a group.
    pub fn slots_of(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |slot: u32| (slot != NO_SLOT).then_some(slot);
        std::iter::successors(some(self.first(group)), move |slot| some(self.next(*slot)))
    }

    /// True when the group has no slots.
    pub fn is_empty_group(&self, group: u32) -> bool {
        self.first(group) == NO_SLOT
    }

    /// Forgets the rows in these slots, each named once.
    ///
    /// # Panics
    /// When the index is append-only.
    pub fn release(&mut self, slots: &[u32]) {
        let identity = self
            .identity
            .as_mut()
            .expect("rows of an append-only index stay");
        for slot in slots {
            let at = *slot as usize;
            let (previous, next) = (identity.previous[at], self.next[at]);
            if previous == NO_SLOT {
                self.heads[self.groups[at] as usize] = next;
            } else {
                self.next[previous as usize] = next;
            }
            if next != NO_SLOT {
                identity.previous[next as usize] = previous;
            }
            if let Ok(entry) = identity
                .table
                .find_entry(identity.hashes[at], |other| other == slot)
            {
                entry.remove();
            }
        }
        self.rows.remove(slots);
    }

    /// All slots in use, in rising order.
    pub fn slots(&self) -> Vec<u32> {
        self.rows.slots()
    }

    /// The rows themselves.
    pub fn rows(&self) -> &RowStore {
        &self.rows
    }

    /// All slots are below this.
    pub fn bound(&self) -> usize {
        self.rows.bound()
    }

    /// Bytes held.
    pub fn size_bytes(&self) -> usize {
        let identity = self.identity.as_ref().map_or(0, |identity| {
            identity.table.allocation_size()
                + identity.hashes.capacity() * 8
                + identity.previous.capacity() * 4
        });
        let lists = (self.groups.capacity() + self.next.capacity() + self.heads.capacity()) * 4;
        self.rows.size_bytes() + identity + lists + self.weights.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray};
    use proptest::prelude::*;

    use super::*;

    fn content(index: &RowIndex) -> BTreeMap<(u32, i64, String), i64> {
        let slots = index.slots();
        let columns = index.rows().gather(&slots).unwrap();
        let mut content = BTreeMap::new();
        for (at, slot) in slots.iter().enumerate() {
            let (a, b) = (
                columns[0].as_primitive::<Int64Type>().value(at),
                columns[1].as_string::<i32>().value(at),
            );
            *content
                .entry((index.group(*slot), a, b.to_string()))
                .or_default() += index.weight(*slot);
        }
        content.retain(|_, weight| *weight != 0);
        content
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn holds_a_multiset_per_group(
            retractable in any::<bool>(),
            epochs in proptest::collection::vec(
                proptest::collection::vec((0u32..4, 0i64..3, 0usize..3, -1i64..3), 0..30),
                1..8,
            ),
        ) {
            let mut index = RowIndex::new(&[DataType::Int64, DataType::Utf8], retractable).unwrap();
            let mut model: BTreeMap<(u32, i64, String), i64> = BTreeMap::new();
            for rows in epochs {
                let text = ["", "b", "ccc"];
                let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
                let columns: Vec<ArrayRef> = vec![
                    Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1))),
                    Arc::new(StringArray::from_iter_values(rows.iter().map(|row| text[row.2]))),
                ];
                let weights = retractable.then(|| Int64Array::from_iter_values(rows.iter().map(|row| row.3)));
                let mut slots = Vec::new();
                index.locate(&groups, &columns, &mut slots).unwrap();
                for (row, slot) in slots.iter().enumerate() {
                    index.add_weight(*slot, weights.as_ref().map_or(1, |weights| weights.value(row)));
                }
                for row in rows {
                    let weight = if retractable { row.3 } else { 1 };
                    *model.entry((row.0, row.1, text[row.2].to_string())).or_default() += weight;
                }
                model.retain(|_, weight| *weight != 0);
                prop_assert_eq!(content(&index), model.clone());
                if retractable {
                    let gone: Vec<u32> = index.slots().into_iter().filter(|slot| index.weight(*slot) == 0).collect();
                    index.release(&gone);
                    prop_assert_eq!(content(&index), model.clone());
                    prop_assert_eq!(index.rows().len(), model.len(), "equal rows share a slot");
                }
            }
        }
    }
}

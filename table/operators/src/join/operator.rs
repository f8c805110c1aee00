//! Equi-join of two changing tables: inner, left, right, full, semi and anti, with retractions on both sides.
//!
//! Both sides are kept. A row that comes is stored and paired with what the other side holds at that moment, so that
//! over an epoch each pair of old and new rows is met exactly once, in whatever order the batches come: the join of
//! weights is bilinear. Rows that also appear by themselves (padded with NULLs in outer joins, alone in semi and anti
//! joins) carry the number of their matches; what they were at the start of the epoch is remembered at the first
//! touch, and only the net difference is emitted at its end. So no transient padded row leaves an epoch.
//!
//! When an input retracts, pairs are gathered as pairs of slots and netted at the end of the epoch before any column
//! is touched; between append-only inputs they are emitted at once. NULL keys match nothing, unless the key compares
//! with IS NOT DISTINCT FROM; such rows are never stored. State shrinks by retractions only.
//!
//! Semantics: SQL:2016 7.10; Flink's `StreamingJoinOperator` and `StreamingSemiAntiJoinOperator`, which however emit
//! and retract transient padded rows.

use aquifer_functions::{EvalContext, Evaluator, ResolvedExpr};
use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, new_null_array};
use arrow_schema::DataType as ArrowType;

use super::side::{Side, Solo, rows_with_keys};
use crate::consolidate::consolidate;
use crate::emit::{BATCH, emit};
use crate::error::{internal, user};
use crate::state::{GroupIndex, NO_SLOT};

/// Which rows a join keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum JoinType {
    /// Matching pairs.
    Inner,
    /// And left rows without a match, padded with NULLs.
    Left,
    /// And right rows without a match, padded with NULLs.
    Right,
    /// And both.
    Full,
    /// Left rows with a match; the columns of the left side alone.
    Semi,
    /// Left rows without a match; the columns of the left side alone.
    Anti,
}

/// What a join needs to know of an input.
#[derive(Clone, Debug)]
pub struct JoinInput {
    /// The types of its columns.
    pub types: Vec<DataType>,
    /// The key columns; those of the two sides have the same types in the same order.
    pub keys: Vec<usize>,
    /// True when it never retracts a row.
    pub append_only: bool,
}

/// Joins two inputs. See the module's description.
///
/// Output: the columns of the left side, then (except for semi and anti joins) those of the right side.
pub struct JoinOperator {
    sides: [Side; 2],
    index: GroupIndex,
    null_safe: Vec<bool>,
    condition: Option<Evaluator>,
    evaluation: EvalContext,
    /// Whether pairs appear in the output.
    emits_pairs: bool,
    /// Whether pairs are netted at the end of the epoch.
    nets_pairs: bool,
    context: Option<OperatorContext>,
    pairs: Pairs,
    /// Left slot, right slot (or none) and weight, of the current epoch.
    changes: Vec<(u32, u32, i64)>,
    /// Rows with NULL keys that appear by themselves.
    keyless: Vec<ChangeBatch>,
}

/// Pairs of a row of the batch at hand and a stored row of the other side.
#[derive(Default)]
struct Pairs {
    /// Row numbers of the batch.
    rows: Vec<u32>,
    mine: Vec<u32>,
    other: Vec<u32>,
}

impl JoinOperator {
    /// Joins `left` and `right` where their keys are equal and `condition`, over the columns of both, is true. A key
    /// column that is `null_safe` compares with IS NOT DISTINCT FROM; `zone` is the session's.
    ///
    /// # Errors
    /// When the condition cannot be compiled or the key types differ.
    pub fn new(
        left: JoinInput,
        right: JoinInput,
        join_type: JoinType,
        null_safe: Vec<bool>,
        condition: Option<&ResolvedExpr>,
        zone: TimeZone,
    ) -> Result<Self> {
        let (left_solo, right_solo) = match join_type {
            JoinType::Inner => (Solo::Never, Solo::Never),
            JoinType::Left => (Solo::Unmatched, Solo::Never),
            JoinType::Right => (Solo::Never, Solo::Unmatched),
            JoinType::Full => (Solo::Unmatched, Solo::Unmatched),
            JoinType::Semi => (Solo::Matched, Solo::Never),
            JoinType::Anti => (Solo::Unmatched, Solo::Never),
        };
        let sides = [
            Side::new("left", left, left_solo)?,
            Side::new("right", right, right_solo)?,
        ];
        let key_types = sides[0].key_types();
        if key_types != sides[1].key_types() || key_types.len() != null_safe.len() {
            return Err(internal(format!(
                "a join compares keys of types {key_types:?} with {:?}",
                sides[1].key_types()
            )));
        }
        Ok(JoinOperator {
            nets_pairs: !sides.iter().all(Side::is_append_only),
            emits_pairs: !matches!(join_type, JoinType::Semi | JoinType::Anti),
            index: GroupIndex::new(&key_types).map_err(internal)?,
            sides,
            null_safe,
            condition: condition
                .map(Evaluator::compile)
                .transpose()
                .map_err(user)?,
            evaluation: EvalContext {
                time_zone: zone,
                ..EvalContext::default()
            },
            context: None,
            pairs: Pairs::default(),
            changes: Vec::new(),
            keyless: Vec::new(),
        })
    }

    /// Pairs the rows of `batch`, stored in `slots`, with the rows of the other side.
    fn probe(
        &mut self,
        input: usize,
        batch: &ChangeBatch,
        groups: &[u32],
        slots: &[u32],
        output: &mut Output,
    ) -> Result<()> {
        // The first row that a slot was created for brings its matches in; rows that only change a weight do not.
        let mut is_new = vec![false; batch.len()];
        if self.sides[input].counts() {
            let mut created = self.sides[input].rows.created().iter().peekable();
            for (is_new, slot) in is_new.iter_mut().zip(slots) {
                *is_new = created.next_if_eq(&slot).is_some();
            }
        }
        for (row, group) in groups.iter().enumerate() {
            let mut other = self.sides[1 - input].rows.first(*group);
            while other != NO_SLOT {
                self.pairs.rows.push(row as u32);
                self.pairs.mine.push(slots[row]);
                self.pairs.other.push(other);
                other = self.sides[1 - input].rows.next(other);
                if self.pairs.rows.len() == BATCH {
                    self.flush_pairs(input, batch, &is_new, output)?;
                }
            }
        }
        self.flush_pairs(input, batch, &is_new, output)
    }

    fn flush_pairs(
        &mut self,
        input: usize,
        batch: &ChangeBatch,
        is_new: &[bool],
        output: &mut Output,
    ) -> Result<()> {
        let mut pairs = std::mem::take(&mut self.pairs);
        if let Some(condition) = &self.condition
            && !pairs.rows.is_empty()
        {
            let [left, right] = if input == 0 {
                [&pairs.mine, &pairs.other]
            } else {
                [&pairs.other, &pairs.mine]
            };
            let mut columns = self.sides[0].rows.rows().gather(left).map_err(internal)?;
            columns.extend(self.sides[1].rows.rows().gather(right).map_err(internal)?);
            self.evaluation.epoch_time_ms = output.processing_time();
            let matches = condition
                .evaluate_filter(&columns, left.len(), &self.evaluation)
                .map_err(user)?;
            pairs.retain(&matches);
        }
        let [first, second] = &mut self.sides;
        let (mine, others) = if input == 0 {
            (first, second)
        } else {
            (second, first)
        };
        if others.counts() {
            for (row, other) in pairs.rows.iter().zip(&pairs.other) {
                others.add_matches(*other, batch.weight(*row as usize));
            }
        }
        if mine.counts() {
            for ((row, slot), other) in pairs.rows.iter().zip(&pairs.mine).zip(&pairs.other) {
                if is_new[*row as usize] {
                    mine.add_matches(*slot, others.rows.weight(*other));
                }
            }
        }
        let are_ones = !self.nets_pairs && batch.weights().is_none() && !others.has_weights();
        if self.emits_pairs && are_ones {
            let [left, right] = if input == 0 {
                [&pairs.mine, &pairs.other]
            } else {
                [&pairs.other, &pairs.mine]
            };
            let mut columns = self.sides[0].rows.rows().gather(left).map_err(internal)?;
            columns.extend(self.sides[1].rows.rows().gather(right).map_err(internal)?);
            let batch = ChangeBatch::new(columns, None, left.len()).map_err(internal)?;
            output.emit(0, batch);
        } else if self.emits_pairs {
            for ((row, slot), other) in pairs.rows.iter().zip(&pairs.mine).zip(&pairs.other) {
                let weight = batch.weight(*row as usize) * others.rows.weight(*other);
                let (left, right) = if input == 0 {
                    (*slot, *other)
                } else {
                    (*other, *slot)
                };
                if weight != 0 {
                    self.changes.push((left, right, weight));
                }
            }
            if !self.nets_pairs {
                self.emit_changes(output)?;
            }
        }
        pairs.clear();
        self.pairs = pairs;
        Ok(())
    }

    /// Emits and clears `changes`.
    fn emit_changes(&mut self, output: &mut Output) -> Result<()> {
        let changes = std::mem::take(&mut self.changes);
        for part in changes.chunks(BATCH) {
            let left: Vec<u32> = part.iter().map(|change| change.0).collect();
            let mut columns = self.sides[0].rows.rows().gather(&left).map_err(internal)?;
            if self.emits_pairs {
                let right: Vec<u32> = part.iter().map(|change| change.1).collect();
                columns.extend(self.sides[1].rows.rows().gather(&right).map_err(internal)?);
            }
            let ones = part.iter().all(|change| change.2 == 1);
            let weights =
                (!ones).then(|| Int64Array::from_iter_values(part.iter().map(|change| change.2)));
            output.emit(
                0,
                ChangeBatch::new(columns, weights, part.len()).map_err(internal)?,
            );
        }
        self.changes = changes;
        self.changes.clear();
        Ok(())
    }

    /// Adds up the weights of equal pairs.
    fn net_changes(&mut self) {
        if self.changes.iter().all(|change| change.2 > 0) {
            return;
        }
        self.changes
            .sort_unstable_by_key(|change| (change.0, change.1));
        self.changes.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        self.changes.retain(|change| change.2 != 0);
        self.changes.sort_by_key(|change| change.2 > 0);
    }

    /// A row whose key has a NULL matches nothing: it appears unmatched or not at all.
    fn take_keyless(&mut self, input: usize, batch: ChangeBatch) -> Result<()> {
        if batch.is_empty() || self.sides[input].solo() != Solo::Unmatched {
            return Ok(());
        }
        if !self.emits_pairs {
            self.keyless.push(batch);
            return Ok(());
        }
        let rows = batch.len();
        let padding = self.sides[1 - input].rows.rows().types();
        let padding = padding
            .iter()
            .map(|data_type: &ArrowType| new_null_array(data_type, rows));
        let columns: Vec<ArrayRef> = if input == 0 {
            batch.columns().iter().cloned().chain(padding).collect()
        } else {
            padding.chain(batch.columns().iter().cloned()).collect()
        };
        self.keyless
            .push(batch.with_columns(columns).map_err(internal)?);
        Ok(())
    }
}

impl Pairs {
    fn retain(&mut self, keep: &BooleanArray) {
        let kept = |values: &mut Vec<u32>| {
            let mut at = 0;
            values.retain(|_| {
                at += 1;
                keep.value(at - 1)
            });
        };
        kept(&mut self.rows);
        kept(&mut self.mine);
        kept(&mut self.other);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.mine.clear();
        self.other.clear();
    }
}

impl EpochOperator for JoinOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .as_ref()
            .ok_or_else(|| internal("restore comes after open"))?;
        for side in &mut self.sides {
            side.restore(state, &mut self.index, context)?;
        }
        Ok(())
    }

    fn process(&mut self, input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let mut batch = batch.into_data::<ChangeBatch>()?;
        let mut keys = self.sides[input].keys_of(&batch);
        if let Some(selection) = rows_with_keys(&keys, &self.null_safe) {
            let rest = BooleanArray::new(!selection.values(), None);
            self.take_keyless(input, batch.filter(&rest).map_err(internal)?)?;
            batch = batch.filter(&selection).map_err(internal)?;
            keys = self.sides[input].keys_of(&batch);
        }
        let (mut groups, mut slots) = (Vec::new(), Vec::new());
        self.index
            .assign(&keys, batch.len(), &mut groups)
            .map_err(internal)?;
        self.sides[input].add(&groups, &batch, &mut slots)?;
        self.probe(input, &batch, &groups, &slots, output)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let [left, right] = &self.sides;
        let changes = &mut self.changes;
        left.solo_changes(|slot, weight| changes.push((slot, NO_SLOT, weight)));
        right.solo_changes(|slot, weight| changes.push((NO_SLOT, slot, weight)));
        self.net_changes();
        self.emit_changes(output)?;
        let keyless = std::mem::take(&mut self.keyless);
        if !keyless.is_empty() {
            emit(output, consolidate(&keyless)?);
        }
        let [left, right] = &mut self.sides;
        let mut groups = left.end_epoch();
        groups.append(&mut right.end_epoch());
        groups.sort_unstable();
        groups.dedup();
        groups.retain(|group| {
            self.sides
                .iter()
                .all(|side| side.rows.is_empty_group(*group))
        });
        self.index.remove(&groups);
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.sides
            .iter()
            .try_for_each(|side| side.snapshot(snapshot))
    }

    fn state_size(&self) -> StateSize {
        let sides: usize = self.sides.iter().map(Side::size_bytes).sum();
        StateSize {
            bytes: (sides + self.index.size_bytes()) as u64,
            keys: self.index.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;

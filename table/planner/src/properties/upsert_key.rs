//! Columns that identify a row of the output, by which a removed and an added row are an update.

use aquifer_table_common::operation::{JoinType, QueryOperation};

use crate::rules::conjuncts;
use crate::rules::sides;

/// The columns of a key of the output; empty if there is one row at most, none if nothing is known.
pub fn upsert_key(operation: &QueryOperation) -> Option<Vec<usize>> {
    match operation {
        QueryOperation::Source(q) => {
            let key = q.table.schema.primary_key.as_ref()?;
            let fields = q.table.schema.source_fields();
            let place = |name: &String| q.projection.iter().position(|i| fields[*i].name == *name);
            key.columns.iter().map(place).collect()
        }
        QueryOperation::DataStream(q) => q
            .schema
            .primary_key
            .as_ref()
            .map(|_| q.schema.primary_key_indices()),
        QueryOperation::Values(q) => (q.rows.len() <= 1).then(Vec::new),
        QueryOperation::Project(q) => {
            let key = upsert_key(&q.input)?;
            let place = |column: &usize| {
                q.expressions
                    .iter()
                    .position(|e| e.as_input() == Some(*column))
            };
            key.iter().map(place).collect()
        }
        QueryOperation::Filter(q) => upsert_key(&q.input),
        QueryOperation::Watermark(q) => upsert_key(&q.input),
        QueryOperation::Aggregate(q) => Some((0..q.grouping.len()).collect()),
        QueryOperation::Distinct(q) => Some((0..q.input.fields().len()).collect()),
        // A row comes once per window.
        QueryOperation::Set(_) | QueryOperation::Window(_) => None,
        QueryOperation::Join(q) if !q.join_type.keeps_right() => upsert_key(&q.left),
        QueryOperation::Join(q) => {
            let width = q.left.fields().len();
            let (left, right) = (upsert_key(&q.left), upsert_key(&q.right));
            let keys: Vec<(usize, usize)> = conjuncts(&q.condition)
                .iter()
                .filter_map(|part| sides(part, width))
                .filter_map(|(_, l, r)| Some((l.as_input()?, r.as_input()? - width)))
                .collect();
            let covers = |key: &Option<Vec<usize>>, joined: Vec<usize>| {
                key.as_ref()
                    .is_some_and(|key| key.iter().all(|k| joined.contains(k)))
            };
            let left_matches_once = covers(&right, keys.iter().map(|(_, r)| *r).collect());
            let right_matches_once = covers(&left, keys.iter().map(|(l, _)| *l).collect());
            let shift = |key: &[usize]| key.iter().map(|k| k + width).collect::<Vec<_>>();
            match (left, right) {
                // A row that is padded has NULL in the other side's key, so one side's key is enough
                // only where that side is never padded.
                (Some(left), _) if left_matches_once && !q.join_type.pads_left() => Some(left),
                (_, Some(right)) if right_matches_once && !q.join_type.pads_right() => {
                    Some(shift(&right))
                }
                (Some(left), Some(right)) if q.join_type == JoinType::Inner => {
                    Some(left.into_iter().chain(shift(&right)).collect())
                }
                _ => None,
            }
        }
    }
}

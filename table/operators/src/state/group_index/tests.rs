//! Against a `BTreeMap` of keys as text: finds lost or merged keys, wrong reuse of numbers, faults of compaction.

use std::collections::BTreeMap;

use arrow_array::{
    BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray,
    UInt32Array,
};
use proptest::prelude::*;

use super::*;

/// Key columns of each form from small numbers; `None` is NULL.
fn columns(form: usize, keys: &[(Option<i8>, Option<i8>)]) -> Vec<ArrayRef> {
    let a = || keys.iter().map(|key| key.0);
    let b = || keys.iter().map(|key| key.1);
    let int64 = || -> ArrayRef { Arc::new(a().map(|v| v.map(i64::from)).collect::<Int64Array>()) };
    let int32 = || -> ArrayRef { Arc::new(b().map(|v| v.map(i32::from)).collect::<Int32Array>()) };
    let text = || -> ArrayRef {
        Arc::new(
            a().map(|v| v.map(|v| "x".repeat(v.unsigned_abs() as usize) + &v.to_string()))
                .collect::<StringArray>(),
        )
    };
    match form {
        0 => vec![int64()],
        1 => vec![int64(), int32()],
        2 => vec![text()],
        3 => vec![Arc::new(
            a().map(|v| v.map(|v| vec![v as u8; 3]))
                .collect::<BinaryArray>(),
        )],
        4 => vec![text(), int32()],
        5 => vec![
            Arc::new(a().map(|v| v.map(|v| v > 0)).collect::<BooleanArray>()),
            Arc::new(
                b().map(|v| v.map(i64::from))
                    .collect::<TimestampMicrosecondArray>(),
            ),
            Arc::new(a().map(|v| v.map(f64::from)).collect::<Float64Array>()),
        ],
        6 => vec![Arc::new(
            a().map(|v| v.map(i128::from)).collect::<Decimal128Array>(),
        )],
        7 => vec![Arc::new(arrow_array::NullArray::new(keys.len())), text()],
        _ => vec![],
    }
}

fn key_texts(columns: &[ArrayRef], rows: usize) -> Vec<String> {
    (0..rows)
        .map(|row| {
            columns
                .iter()
                .map(|column| format!("{:?};", column.slice(row, 1)))
                .collect()
        })
        .collect()
}

fn key() -> impl Strategy<Value = (Option<i8>, Option<i8>)> {
    (
        proptest::option::weighted(0.9, -6i8..6),
        proptest::option::weighted(0.9, -2i8..2),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn numbers_are_dense_stable_and_reused(
        form in 0usize..9,
        steps in proptest::collection::vec((proptest::collection::vec(key(), 0..40), any::<u64>()), 1..12),
    ) {
        let types: Vec<DataType> = columns(form, &[]).iter().map(|c| c.data_type().clone()).collect();
        let mut index = GroupIndex::new(&types).unwrap();
        let mut model: BTreeMap<String, u32> = BTreeMap::new();
        let (mut groups, mut found) = (Vec::new(), Vec::new());
        for (keys, choice) in steps {
            let batch = columns(form, &keys);
            let texts = key_texts(&batch, keys.len());
            index.find(&batch, keys.len(), &mut found).unwrap();
            for (text, group) in texts.iter().zip(&found) {
                prop_assert_eq!(model.get(text).copied().unwrap_or(NO_GROUP), *group);
            }
            index.assign(&batch, keys.len(), &mut groups).unwrap();
            for (text, group) in texts.iter().zip(&groups) {
                let free = !model.values().any(|g| g == group);
                let known = model.entry(text.clone()).or_insert_with(|| { assert!(free); *group });
                prop_assert_eq!(known, group);
            }
            prop_assert_eq!(index.len(), model.len());
            let live = index.groups();
            let mut expected: Vec<u32> = model.values().copied().collect();
            expected.sort_unstable();
            prop_assert_eq!(&live, &expected);
            prop_assert!(live.iter().all(|group| (*group as usize) < index.bound()));
            let back = key_texts(&index.keys(&live).unwrap(), live.len());
            for (group, text) in live.iter().zip(back) {
                prop_assert_eq!(model.get(&text), Some(group), "{}", text);
            }
            let gone: Vec<u32> = live.into_iter().filter(|group| choice >> (group % 64) & 1 == 1).collect();
            index.remove(&gone);
            model.retain(|_, group| !gone.contains(group));
        }
    }
}

#[test]
fn the_arena_shrinks_when_groups_go() {
    let mut index = GroupIndex::new(&[DataType::Utf8]).unwrap();
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..10_000).map(|i| format!("key number {i}")),
    ));
    let mut groups = Vec::new();
    index
        .assign(std::slice::from_ref(&text), 10_000, &mut groups)
        .unwrap();
    let before = index.size_bytes();
    index.remove(&groups[100..]);
    assert!(index.size_bytes() < before);
    let kept = index.keys(&groups[..100]).unwrap();
    assert_eq!(kept[0].as_string::<i32>().value(99), "key number 99");
}

#[test]
fn columns_of_other_types_are_refused() {
    let mut index = GroupIndex::new(&[DataType::Int64]).unwrap();
    let column: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    assert!(index.assign(&[column], 1, &mut Vec::new()).is_err());
}

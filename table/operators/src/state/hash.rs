//! The routing hash of key columns: the same for equal keys, whatever batch, array offset or process they are in.
//!
//! Columns are folded one after the other into one hash per row with a fixed seed: words by a folded multiply,
//! text and bytes by foldhash with a fixed seed, everything nested by the bytes of its `arrow-row` form. NULL has a
//! value of its own, and equals NULL.

use std::hash::{BuildHasher, Hasher};

use aquifer_runtime::exchange::FixedState;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};

use super::fixed_width::{for_each_word, word_bytes};

/// Differs from [`TABLE_SEED`], so that the keys of one worker do not crowd its hash tables.
const ROUTING_SEED: u64 = 0x9E37_79B9_7F4A_7C15;
pub(crate) const TABLE_SEED: u64 = 0xD1B5_4A32_D192_ED03;
const MULTIPLIER: u64 = 0xA076_1D64_78BD_642F;
const NULL_WORD: u64 = 0x5851_F42D_4C95_7F2D;

/// Folds a word into a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let wide = u128::from(hash ^ word) * u128::from(MULTIPLIER);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Hashes bytes with a fixed seed.
#[inline]
pub(crate) fn hash_bytes(state: &FixedState, bytes: &[u8]) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// The routing hash of every row of `columns`, which are of one length. `rows` matters only without columns: then
/// all rows have one hash.
///
/// # Errors
/// When a column is of a type that has no `arrow-row` form.
pub fn hash_columns(columns: &[ArrayRef], rows: usize) -> Result<Vec<u64>, ArrowError> {
    hash_rows_with(ROUTING_SEED, columns, rows)
}

/// As [`hash_columns`], with another seed.
pub(crate) fn hash_rows_with(
    seed: u64,
    columns: &[ArrayRef],
    rows: usize,
) -> Result<Vec<u64>, ArrowError> {
    let mut hashes = vec![seed; rows];
    for column in columns {
        fold_column(column, seed, &mut hashes)?;
    }
    // One more fold, so that the high bits depend on all of a short key.
    hashes.iter_mut().for_each(|hash| *hash = mix(*hash, seed));
    Ok(hashes)
}

fn fold_column(column: &ArrayRef, seed: u64, hashes: &mut [u64]) -> Result<(), ArrowError> {
    let nulls = column
        .logical_nulls()
        .filter(|nulls| nulls.null_count() > 0);
    let state = FixedState::with_seed(seed);
    let mut fold = |row: usize, word: u64| {
        let word = match &nulls {
            Some(nulls) if nulls.is_null(row) => NULL_WORD,
            _ => word,
        };
        hashes[row] = mix(hashes[row], word);
    };
    match column.data_type() {
        data_type if word_bytes(data_type).is_some() => for_each_word(column.as_ref(), fold),
        DataType::Null => (0..column.len()).for_each(|row| fold(row, NULL_WORD)),
        DataType::Utf8 => {
            let column = column.as_string::<i32>();
            (0..column.len())
                .for_each(|row| fold(row, hash_bytes(&state, column.value(row).as_bytes())));
        }
        DataType::Binary => {
            let column = column.as_binary::<i32>();
            (0..column.len()).for_each(|row| fold(row, hash_bytes(&state, column.value(row))));
        }
        data_type => {
            let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
            let encoded = converter.convert_columns(std::slice::from_ref(column))?;
            (0..column.len())
                .for_each(|row| fold(row, hash_bytes(&state, encoded.row(row).data())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Decimal128Array, Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn equal_keys_hash_alike_whatever_their_batch_and_offset() {
        let ints: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None, Some(-3), Some(5)]));
        let text: ArrayRef = Arc::new(StringArray::from(vec![
            Some("a"),
            Some(""),
            None,
            Some("a"),
        ]));
        let decimals: ArrayRef =
            Arc::new(Decimal128Array::from(vec![Some(1), Some(2), None, Some(1)]));
        let columns = [ints, text, decimals];
        let all = hash_columns(&columns, 4).unwrap();
        assert_eq!(all[0], all[3]);
        assert_eq!(
            all.iter().collect::<std::collections::BTreeSet<_>>().len(),
            3
        );
        for (row, hash) in all.into_iter().enumerate() {
            let slice: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
            assert_eq!(hash_columns(&slice, 1).unwrap(), vec![hash]);
        }
    }

    #[test]
    fn null_is_no_empty_text_and_the_value_under_it_does_not_count() {
        let text: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None]));
        let hashes = hash_columns(&[text], 2).unwrap();
        assert_ne!(hashes[0], hashes[1]);
        let nulls = Some(vec![false, false].into());
        let hidden: ArrayRef = Arc::new(Int32Array::new(vec![1, 2].into(), nulls));
        let hashes = hash_columns(&[hidden], 2).unwrap();
        assert_eq!(hashes[0], hashes[1]);
    }

    #[test]
    fn small_integers_spread_over_workers() {
        let ints: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10_000));
        let mut counts = [0usize; 4];
        for hash in hash_columns(&[ints], 10_000).unwrap() {
            counts[aquifer_runtime::exchange::worker_of(hash, 4)] += 1;
        }
        assert!(
            counts.iter().all(|count| (2_200..2_800).contains(count)),
            "{counts:?}"
        );
    }
}

//! Tests of registered rows and collected results.

use aquifer_types::{Row, RowKind, row_values};

use super::results::ValuesResult;

fn show(rows: &[Row]) -> Vec<String> {
    rows.iter().map(Row::to_string).collect()
}

#[test]
fn results_are_materialised_by_key_or_as_a_multiset() {
    let rows = |values: &[(RowKind, i32, &str)]| -> Vec<Row> {
        let row =
            |(kind, id, name): &(RowKind, i32, &str)| Row::of_kind(*kind, row_values![*id, *name]);
        values.iter().map(row).collect()
    };
    let mut result = ValuesResult::default();
    result.push(0, 1, 1, rows(&[(RowKind::Insert, 2, "b")]));
    result.push(
        0,
        0,
        0,
        rows(&[(RowKind::Insert, 1, "a"), (RowKind::Insert, 1, "a")]),
    );
    result.push(0, 1, 0, rows(&[(RowKind::Delete, 1, "a")]));
    assert_eq!(
        show(&result.changelog()),
        ["+I[1, a]", "+I[1, a]", "-D[1, a]", "+I[2, b]"]
    );
    assert_eq!(result.epochs().len(), 2);
    assert_eq!(show(&result.materialized()), ["+I[1, a]", "+I[2, b]"]);
    result.set_key(&[0]);
    result.push(0, 2, 0, rows(&[(RowKind::UpdateAfter, 2, "c")]));
    assert_eq!(show(&result.materialized()), ["+I[2, c]"]);
    result.roll_back(
        |worker| worker == 0,
        &[(0, 1), (1, 0)].into_iter().collect(),
    );
    assert_eq!(show(&result.materialized()), ["+I[1, a]", "+I[2, b]"]);
}

//! Every accumulator against a naive list of rows, under random additions and retractions.

use aquifer_types::{DataType, DataTypes, Decimal, Row, Value, column_value};
use arrow_array::{ArrayRef, Int64Array};
use proptest::prelude::*;

use super::{Accumulator, distinct, resolve_aggregate};
use crate::signature::Argument;

const GROUPS: usize = 4;

#[derive(Debug, Clone)]
struct Change {
    group: u32,
    value: Option<i64>,
}

fn types() -> Vec<DataType> {
    vec![
        DataTypes::bigint(),
        DataTypes::int(),
        DataTypes::double(),
        DataTypes::decimal(20, 2),
        DataTypes::string(),
        DataTypes::date(),
        DataTypes::timestamp(9),
    ]
}

fn typed(value: Option<i64>, data_type: &DataType) -> Value {
    let Some(v) = value else { return Value::Null };
    match data_type.to_string().split('(').next().unwrap_or_default() {
        "BIGINT" => Value::BigInt(v),
        "INT" => Value::Int(v as i32),
        "DOUBLE" => Value::Double(v as f64),
        "DECIMAL" => Value::Decimal(Decimal::new(v.into(), 2)),
        "DATE" => Value::Date(v as i32),
        "TIMESTAMP" => Value::Timestamp(aquifer_types::Timestamp::from_nanos(v)),
        _ => Value::String(format!("{:03}", v + 500)),
    }
}

fn column(changes: &[Change], data_type: &DataType) -> ArrayRef {
    let rows: Vec<Row> = changes
        .iter()
        .map(|c| Row::of(vec![typed(c.value, data_type)]))
        .collect();
    let batch = aquifer_types::ChangeBatch::from_rows(&rows, std::slice::from_ref(data_type));
    batch.unwrap().column(0).clone()
}

fn feed(accumulator: &mut dyn Accumulator, changes: &[Change], sign: i64, data_type: &DataType) {
    let groups: Vec<u32> = changes.iter().map(|c| c.group).collect();
    let weights = Int64Array::from(vec![sign; changes.len()]);
    let weights = (sign != 1).then_some(&weights);
    accumulator
        .accumulate(&groups, &[column(changes, data_type)], weights)
        .unwrap();
}

/// The right answer for the rows of one group.
fn expected(name: &str, is_distinct: bool, mut values: Vec<Value>, result: &DataType) -> Value {
    values.retain(|v| !v.is_null());
    if is_distinct {
        values.sort();
        values.dedup();
    }
    let number = |v: &Value| match v {
        Value::Double(v) => *v as i128,
        Value::Decimal(v) => v.unscaled(),
        other => i128::from(other.as_i64().unwrap_or(0)),
    };
    let sum: i128 = values.iter().map(number).sum();
    let count = values.len() as i128;
    let as_result = |n: i128| match result.to_string().split('(').next().unwrap_or_default() {
        "BIGINT" | "BIGINT NOT NULL" => Value::BigInt(n as i64),
        "INT" => Value::Int(n as i32),
        "DOUBLE" => Value::Double(n as f64),
        _ => Value::Decimal(Decimal::new(n, 2)),
    };
    match name {
        "COUNT" => Value::BigInt(values.len() as i64),
        "MIN" => values.into_iter().min().unwrap_or_default(),
        "MAX" => values.into_iter().max().unwrap_or_default(),
        _ if values.is_empty() => Value::Null,
        "SUM" => as_result(sum),
        _ => match &values[0] {
            Value::Double(_) => Value::Double(sum as f64 / count as f64),
            Value::Decimal(_) => {
                // Four more digits, rounded half up.
                let scaled = sum.abs() * 10_000;
                let rounded = (2 * scaled + count) / (2 * count);
                Value::Decimal(Decimal::new(rounded * sum.signum(), 6))
            }
            _ => as_result(sum / count),
        },
    }
}

fn check(
    accumulator: &dyn Accumulator,
    rows: &[Change],
    name: &str,
    is_distinct: bool,
    types: (&DataType, &DataType),
) {
    let groups: Vec<u32> = (0..GROUPS as u32).collect();
    let result = accumulator.value(&groups).unwrap();
    for group in groups {
        let values: Vec<Value> = rows
            .iter()
            .filter(|c| c.group == group)
            .map(|c| typed(c.value, types.0))
            .collect();
        let found = column_value(result.as_ref(), group as usize, types.1);
        let wanted = expected(name, is_distinct, values, types.1);
        assert_eq!(found, wanted, "{name} of {} in group {group}", types.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn accumulators_are_right(
        rows in prop::collection::vec(
            (0..GROUPS as u32, prop::option::weighted(0.8, -30_i64..30))
                .prop_map(|(group, value)| Change { group, value }),
            0..40,
        ),
        cut in any::<prop::sample::Index>(),
    ) {
        for name in ["COUNT", "SUM", "AVG", "MIN", "MAX"] {
            for data_type in types() {
                let Ok((function, inferred)) = resolve_aggregate(name, std::slice::from_ref(&data_type)) else {
                    continue;
                };
                let result = inferred.result;
                for (is_distinct, retractable) in [(false, false), (false, true), (true, true)] {
                    let make = || {
                        let inner = function
                            .accumulator(&inferred.arguments, &result, retractable)
                            .unwrap();
                        let mut made = if is_distinct {
                            distinct(&inferred.arguments, inner).unwrap()
                        } else {
                            inner
                        };
                        made.resize(GROUPS);
                        made
                    };
                    let cut = cut.index(rows.len() + 1);
                    let (first, second) = rows.split_at(cut);
                    let types = (&data_type, &result);

                    let mut accumulator = make();
                    feed(accumulator.as_mut(), first, 1, &data_type);
                    check(accumulator.as_ref(), first, name, is_distinct, types);
                    feed(accumulator.as_mut(), second, 1, &data_type);
                    check(accumulator.as_ref(), &rows, name, is_distinct, types);

                    // State through a snapshot, and merged in two halves.
                    let groups: Vec<u32> = (0..GROUPS as u32).collect();
                    let mut restored = make();
                    let state = accumulator.snapshot(&groups).unwrap();
                    let batch = aquifer_types::ChangeBatch::new(state, None, GROUPS).unwrap();
                    let mut bytes = Vec::new();
                    batch.encode(&mut bytes);
                    let read = aquifer_types::ChangeBatch::decode(&bytes, &accumulator.state_types());
                    restored.restore(&groups, read.unwrap().columns()).unwrap();
                    check(restored.as_ref(), &rows, name, is_distinct, types);
                    let mut merged = make();
                    for part in [second, first] {
                        let mut other = make();
                        feed(other.as_mut(), part, 1, &data_type);
                        merged.merge(&groups, &other.snapshot(&groups).unwrap()).unwrap();
                    }
                    check(merged.as_ref(), &rows, name, is_distinct, types);

                    if retractable {
                        feed(restored.as_mut(), first, -1, &data_type);
                        check(restored.as_ref(), second, name, is_distinct, types);
                        // Taken back before added: it comes out even in the end.
                        feed(restored.as_mut(), &rows, -1, &data_type);
                        feed(restored.as_mut(), &rows, 1, &data_type);
                        check(restored.as_ref(), second, name, is_distinct, types);
                    }
                    accumulator.clear(&[1, 3]);
                    let left: Vec<Change> =
                        rows.iter().filter(|c| c.group % 2 == 0).cloned().collect();
                    check(accumulator.as_ref(), &left, name, is_distinct, types);
                }
            }
        }
    }
}

#[test]
fn names_and_types() {
    let check = |name: &str, argument: &str, result: &str| {
        let (_, inferred) = resolve_aggregate(name, &[argument.parse().unwrap()]).unwrap();
        assert_eq!(inferred.result.to_string(), result, "{name}({argument})");
    };
    check("sum", "INT NOT NULL", "INT NOT NULL");
    check("SUM", "DECIMAL(8, 4)", "DECIMAL(38, 4)");
    check("SUM0", "BIGINT", "BIGINT NOT NULL");
    check("AVG", "INT", "INT");
    check("AVG", "DECIMAL(8, 2)", "DECIMAL(38, 6)");
    check("COUNT", "STRING", "BIGINT NOT NULL");
    check("MAX", "CHAR(3)", "CHAR(3)");
    let error = resolve_aggregate("SUM", &[DataTypes::string()]).unwrap_err();
    assert_eq!(error.code(), "function.invalid_arguments");
    assert_eq!(
        resolve_aggregate("SUMM", &[]).unwrap_err().code(),
        "function.unknown"
    );
    assert!(super::AGGREGATES.is_sorted_by_key(|f| f.name()));
    let argument = Argument {
        data_type: &DataTypes::array(DataTypes::int()),
        literal: None,
    };
    assert!(
        super::find_aggregate("MIN")
            .unwrap()
            .infer(&[argument])
            .is_none()
    );
}

#[test]
fn added_rows_only_refuses_retractions() {
    let t = DataTypes::bigint();
    let mut max = super::find_aggregate("MAX")
        .unwrap()
        .accumulator(std::slice::from_ref(&t), &t, false)
        .unwrap();
    max.resize(1);
    let change = [Change {
        group: 0,
        value: Some(1),
    }];
    let weights = Int64Array::from(vec![-1]);
    let error = max
        .accumulate(&[0], &[column(&change, &t)], Some(&weights))
        .unwrap_err();
    assert_eq!(error.code(), "function.runtime");
}

fn numbers(values: &[i64]) -> Vec<Change> {
    values
        .iter()
        .map(|v| Change {
            group: 0,
            value: Some(*v),
        })
        .collect()
}

#[test]
fn moments_come_back() {
    let double = DataTypes::double();
    for (name, expected) in [
        ("VAR_POP", 4.0),
        ("STDDEV_POP", 2.0),
        ("VAR_SAMP", 32.0 / 7.0),
        ("STDDEV", (32.0_f64 / 7.0).sqrt()),
    ] {
        let (function, inferred) = resolve_aggregate(name, std::slice::from_ref(&double)).unwrap();
        let make = || {
            let mut made = function
                .accumulator(&inferred.arguments, &inferred.result, true)
                .unwrap();
            made.resize(1);
            made
        };
        let value = |a: &dyn Accumulator| {
            column_value(a.value(&[0]).unwrap().as_ref(), 0, &inferred.result)
        };
        let close = |a: &dyn Accumulator| match value(a) {
            Value::Double(found) => assert!((found - expected).abs() < 1e-12, "{name}: {found}"),
            other => panic!("{name}: {other}"),
        };
        let rows = numbers(&[2, 4, 4, 4, 5, 5, 7, 9]);
        let mut accumulator = make();
        feed(accumulator.as_mut(), &rows, 1, &double);
        close(accumulator.as_ref());
        feed(accumulator.as_mut(), &numbers(&[100, -3]), 1, &double);
        feed(accumulator.as_mut(), &numbers(&[-3, 100]), -1, &double);
        close(accumulator.as_ref());
        let mut merged = make();
        for part in [&rows[..3], &rows[3..]] {
            let mut other = make();
            feed(other.as_mut(), part, 1, &double);
            merged.merge(&[0], &other.snapshot(&[0]).unwrap()).unwrap();
        }
        close(merged.as_ref());
        feed(merged.as_mut(), &rows, -1, &double);
        assert_eq!(value(merged.as_ref()), Value::Null);
    }
}

#[test]
fn collected_values_keep_their_order() {
    let check = |name: &str, retractable: bool, added: &[i64], taken: &[i64], expected: &str| {
        let t = DataTypes::string();
        let (function, inferred) = resolve_aggregate(name, std::slice::from_ref(&t)).unwrap();
        let make = || {
            let mut made = function
                .accumulator(&inferred.arguments, &inferred.result, retractable)
                .unwrap();
            made.resize(1);
            made
        };
        let mut accumulator = make();
        // One value is taken back before it comes.
        if let Some((first, rest)) = taken.split_first() {
            feed(accumulator.as_mut(), &numbers(&[*first]), -1, &t);
            feed(accumulator.as_mut(), &numbers(added), 1, &t);
            feed(accumulator.as_mut(), &numbers(rest), -1, &t);
        } else {
            feed(accumulator.as_mut(), &numbers(added), 1, &t);
        }
        let mut restored = make();
        restored
            .restore(&[0], &accumulator.snapshot(&[0]).unwrap())
            .unwrap();
        for accumulator in [&accumulator, &restored] {
            let found = column_value(
                accumulator.value(&[0]).unwrap().as_ref(),
                0,
                &inferred.result,
            );
            assert_eq!(found.to_string(), expected, "{name}");
        }
    };
    check("LISTAGG", false, &[3, 1, 1, 2], &[], "503,501,501,502");
    check("LISTAGG", true, &[3, 1, 2, 1], &[3, 1], "501,502");
    check("ARRAY_AGG", true, &[3, 1], &[], "[503, 501]");
    check("ARRAY_AGG", true, &[3], &[3], "null");
    check("COLLECT", true, &[3, 1, 3], &[1], "{503=2}");
    check("FIRST_VALUE", false, &[3, 1, 2], &[], "503");
    check("LAST_VALUE", false, &[3, 1, 2], &[], "502");
    check("FIRST_VALUE", true, &[3, 1, 2], &[3], "501");
    check("LAST_VALUE", true, &[3, 1, 2], &[3, 2], "501");
    check("LAST_VALUE", true, &[], &[], "null");
}

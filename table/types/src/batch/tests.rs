//! Rows to batches and back, and batches to bytes and back, for random types.

use arrow_array::{BooleanArray, UInt32Array};
use proptest::prelude::*;

use crate::{
    ChangeBatch, DataType, DataTypes, Decimal, LogicalType, Row, RowKind, Timestamp, TypesError,
    Value, row_values,
};

fn leaf_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(vec![
        DataTypes::boolean(),
        DataTypes::tinyint(),
        DataTypes::smallint(),
        DataTypes::int(),
        DataTypes::bigint(),
        DataTypes::float(),
        DataTypes::double(),
        DataTypes::decimal(20, 3),
        DataTypes::string(),
        DataTypes::bytes(),
        DataTypes::date(),
        DataTypes::time(3),
        DataTypes::timestamp(6),
        DataTypes::timestamp(9),
        DataTypes::timestamp_ltz(3),
        DataTypes::timestamp_ltz(9),
        DataTypes::interval_year_month(),
        DataTypes::interval_day_time(),
        DataTypes::null(),
    ])
}

fn any_type() -> impl Strategy<Value = DataType> {
    leaf_type().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(DataTypes::array),
            (leaf_type(), inner.clone()).prop_filter_map("NULL keys", |(k, v)| {
                (k.logical != LogicalType::Null).then(|| DataTypes::map(k, v))
            }),
            leaf_type().prop_filter_map("NULL elements", |e| {
                (e.logical != LogicalType::Null).then(|| DataTypes::multiset(e))
            }),
            prop::collection::vec(inner, 0..3).prop_map(DataTypes::row_of),
        ]
    })
}

fn some_value(data_type: &DataType) -> BoxedStrategy<Value> {
    match &data_type.logical {
        LogicalType::Char(_) | LogicalType::VarChar(_) => {
            "[a-zäß漢]{0,12}".prop_map(Value::String).boxed()
        }
        LogicalType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        LogicalType::Binary(_) | LogicalType::VarBinary(_) => {
            prop::collection::vec(any::<u8>(), 0..9)
                .prop_map(Value::Bytes)
                .boxed()
        }
        LogicalType::Decimal { scale, .. } => {
            let scale = *scale;
            any::<i64>()
                .prop_map(move |v| Value::Decimal(Decimal::new(v.into(), scale)))
                .boxed()
        }
        LogicalType::TinyInt => any::<i8>().prop_map(Value::TinyInt).boxed(),
        LogicalType::SmallInt => any::<i16>().prop_map(Value::SmallInt).boxed(),
        LogicalType::Int => any::<i32>().prop_map(Value::Int).boxed(),
        LogicalType::BigInt => any::<i64>().prop_map(Value::BigInt).boxed(),
        LogicalType::Float => any::<f32>().prop_map(Value::Float).boxed(),
        LogicalType::Double => any::<f64>().prop_map(Value::Double).boxed(),
        LogicalType::Date => (-900_000..900_000).prop_map(Value::Date).boxed(),
        LogicalType::Time(_) => (0..86_400_000).prop_map(Value::Time).boxed(),
        LogicalType::Timestamp(p) => timestamp(*p).prop_map(Value::Timestamp).boxed(),
        LogicalType::TimestampLtz(p) => timestamp(*p).prop_map(Value::TimestampLtz).boxed(),
        LogicalType::IntervalYearMonth => any::<i32>().prop_map(Value::IntervalYearMonth).boxed(),
        LogicalType::IntervalDayTime => any::<i64>().prop_map(Value::IntervalDayTime).boxed(),
        LogicalType::Array(element) => prop::collection::vec(value(element), 0..4)
            .prop_map(Value::Array)
            .boxed(),
        LogicalType::Map(k, v) => prop::collection::vec((some_value(k), value(v)), 0..4)
            .prop_map(Value::Map)
            .boxed(),
        LogicalType::Multiset(e) => {
            let count = (1..9).prop_map(Value::Int);
            prop::collection::vec((some_value(e), count), 0..4)
                .prop_map(Value::Map)
                .boxed()
        }
        LogicalType::Row(fields) => fields
            .iter()
            .map(|f| value(&f.data_type))
            .collect::<Vec<_>>()
            .prop_map(|values| Value::from(Row::of(values)))
            .boxed(),
        LogicalType::Null => Just(Value::Null).boxed(),
    }
}

fn timestamp(precision: u8) -> impl Strategy<Value = Timestamp> {
    let limit = i64::MAX / 1_000_000;
    (-limit..limit, 0..1000_u16)
        .prop_map(move |(micros, nanos)| Timestamp::from_parts(micros, nanos).truncate(precision))
}

fn value(data_type: &DataType) -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(Value::Null), 4 => some_value(data_type)].boxed()
}

fn table() -> impl Strategy<Value = (Vec<DataType>, Vec<Row>)> {
    prop::collection::vec(any_type(), 0..5).prop_flat_map(|types| {
        let fields: Vec<_> = types.iter().map(value).collect();
        let kind = prop::sample::select(vec![RowKind::Insert, RowKind::Insert, RowKind::Delete]);
        let row = (kind, fields).prop_map(|(kind, fields)| Row::of_kind(kind, fields));
        (Just(types), prop::collection::vec(row, 0..20))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn round_trips((types, rows) in table(), cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
        for t in &types {
            prop_assert_eq!(&t.to_string().parse::<DataType>().unwrap(), t);
        }
        let batch = ChangeBatch::from_rows(&rows, &types).unwrap();
        prop_assert_eq!(&batch.to_rows(&types), &rows);

        let from = cut.0.index(rows.len() + 1);
        let to = from + cut.1.index(rows.len() - from + 1);
        let part = batch.slice(from, to - from);
        let mut bytes = Vec::new();
        part.encode(&mut bytes);
        let read = ChangeBatch::decode(&bytes, &types).unwrap();
        prop_assert_eq!(read.to_rows(&types), &rows[from..to]);
        let mut again = Vec::new();
        read.encode(&mut again);
        prop_assert_eq!(&bytes, &again);

        for end in 0..bytes.len() {
            prop_assert!(ChangeBatch::decode(&bytes[..end], &types).is_err());
        }

        let odd: Vec<u32> = (0..rows.len() as u32).filter(|i| i % 2 == 1).collect();
        let expected: Vec<Row> = odd.iter().map(|i| rows[*i as usize].clone()).collect();
        prop_assert_eq!(&batch.take(&UInt32Array::from(odd)).unwrap().to_rows(&types), &expected);
        let mask: BooleanArray = (0..rows.len()).map(|i| Some(i % 2 == 1)).collect();
        prop_assert_eq!(&batch.filter(&mask).unwrap().to_rows(&types), &expected);

        let joined = ChangeBatch::concat(&[batch.slice(0, from), batch.slice(from, rows.len() - from)]);
        prop_assert_eq!(joined.unwrap().to_rows(&types), rows);
    }

    #[test]
    fn corrupt_bytes_give_errors(
        (types, rows) in table(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let batch = ChangeBatch::from_rows(&rows, &types).unwrap();
        let mut bytes = Vec::new();
        batch.encode(&mut bytes);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // Whatever the answer, it comes without a panic and the rows can be read. Elements of no
        // bytes allow any number of them, so do not print those.
        let sized = types.iter().all(|t| {
            let text = t.to_string();
            !text.contains("NULL") && !text.contains("ROW<>")
        });
        if let Ok(read) = ChangeBatch::decode(&bytes, &types) && sized && !types.is_empty() {
            for i in 0..read.len() {
                prop_assert!(!read.row(i, &types).to_string().is_empty());
            }
        }
    }
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    let bytes = [1, 0, 255, 255, 255, 255, 0];
    for t in [
        DataTypes::bigint(),
        DataTypes::string(),
        DataTypes::array(DataTypes::int()),
    ] {
        let error = ChangeBatch::decode(&bytes, &[t]).unwrap_err();
        assert_eq!(error.code(), "types.decode");
    }
}

#[test]
fn builder_checks_values() {
    let code = |t: DataType, v: Value| {
        ChangeBatch::from_rows(&[Row::of(vec![v])], &[t])
            .map_err(|e| e.code())
            .err()
    };
    assert_eq!(
        code(DataTypes::tinyint(), 128.into()),
        Some("types.value_mismatch")
    );
    assert_eq!(code(DataTypes::tinyint(), 127.into()), None);
    assert_eq!(
        code(DataTypes::int().not_null(), Value::Null),
        Some("types.unexpected_null")
    );
    assert_eq!(
        code(DataTypes::decimal(4, 2), 100.into()),
        Some("types.value_mismatch")
    );
    assert_eq!(
        code(DataTypes::int(), "1".into()),
        Some("types.value_mismatch")
    );
    assert_eq!(
        code(DataTypes::row_of([]), Row::of(row_values![1]).into()),
        Some("types.column_count")
    );
    let wide = Timestamp::from_micros(i64::MAX);
    assert_eq!(
        code(DataTypes::timestamp(9), wide.into()),
        Some("types.out_of_range")
    );
    let error = ChangeBatch::new(vec![], None, 2)
        .map(|_| ())
        .and(ChangeBatch::new(
            vec![std::sync::Arc::new(UInt32Array::from(vec![1]))],
            None,
            2,
        ));
    assert!(matches!(
        error,
        Err(TypesError::ColumnLength {
            column: 0,
            expected: 2,
            found: 1
        })
    ));
}

#[test]
fn values_survive_bincode() {
    let row = Row::of(row_values![
        1.5,
        f64::NAN,
        "x",
        Decimal::new(-105, 2),
        vec![1_u8]
    ]);
    let bytes = bincode::serialize(&row).unwrap();
    assert_eq!(bincode::deserialize::<Row>(&bytes).unwrap(), row);
}

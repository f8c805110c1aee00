//! Values to text and back, over slices with NULLs and in several time zones.

use aquifer_types::{
    ChangeBatch, DataType, DataTypes, Decimal, LogicalType, Row, Timestamp, Value, column_value,
};
use proptest::prelude::*;

use crate::context::EvalContext;
use crate::evaluator::Evaluator;
use crate::expression::ResolvedExpr;

fn value(data_type: &DataType) -> BoxedStrategy<Value> {
    let stamp = |precision: u8| {
        // Years 0001 to 9999, or those of nanoseconds.
        let limit = if precision > 6 {
            1677..2262_i64
        } else {
            1..9999
        };
        (limit, 0..365_i64, 0..86_400_000_000_i64, 0..1000_u16).prop_map(move |(y, d, us, ns)| {
            let days = aquifer_types::temporal::days_from_civil(y, 10, 1) + d % 90;
            Timestamp::from_parts(days * 86_400_000_000 + us, ns).truncate(precision)
        })
    };
    let some = match data_type.logical {
        LogicalType::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        LogicalType::TinyInt => any::<i8>().prop_map(Value::TinyInt).boxed(),
        LogicalType::SmallInt => any::<i16>().prop_map(Value::SmallInt).boxed(),
        LogicalType::Int => any::<i32>().prop_map(Value::Int).boxed(),
        LogicalType::BigInt => any::<i64>().prop_map(Value::BigInt).boxed(),
        LogicalType::Float => any::<f32>().prop_map(Value::Float).boxed(),
        LogicalType::Double => any::<f64>().prop_map(Value::Double).boxed(),
        LogicalType::Decimal { scale, .. } => any::<i64>()
            .prop_map(move |v| Value::Decimal(Decimal::new(v.into(), scale)))
            .boxed(),
        LogicalType::Date => (-719_162..2_932_896).prop_map(Value::Date).boxed(),
        LogicalType::Time(_) => (0..86_400_000).prop_map(Value::Time).boxed(),
        LogicalType::Timestamp(p) => stamp(p).prop_map(Value::Timestamp).boxed(),
        LogicalType::TimestampLtz(p) => stamp(p).prop_map(Value::TimestampLtz).boxed(),
        _ => "[a-zäß]{0,5}".prop_map(Value::String).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 5 => some].boxed()
}

fn column() -> impl Strategy<Value = (DataType, Vec<Value>)> {
    prop::sample::select(vec![
        DataTypes::boolean(),
        DataTypes::tinyint(),
        DataTypes::smallint(),
        DataTypes::int(),
        DataTypes::bigint(),
        DataTypes::float(),
        DataTypes::double(),
        DataTypes::decimal(20, 3),
        DataTypes::date(),
        DataTypes::time(3),
        DataTypes::timestamp(6),
        DataTypes::timestamp(9),
        DataTypes::timestamp_ltz(3),
        DataTypes::string(),
    ])
    .prop_flat_map(|t| (Just(t.clone()), prop::collection::vec(value(&t), 1..10)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn there_and_back((data_type, values) in column(), zone in prop::sample::select(vec!["UTC", "Asia/Shanghai", "-03:30"])) {
        let rows: Vec<Row> = std::iter::once(Value::Null)
            .chain(values.iter().cloned())
            .map(|v| Row::of(vec![v]))
            .collect();
        let batch = ChangeBatch::from_rows(&rows, std::slice::from_ref(&data_type)).unwrap();
        let batch = batch.slice(1, values.len());
        let context = EvalContext { epoch_time_ms: 0, time_zone: zone.parse().unwrap() };
        let input = ResolvedExpr::input(0, data_type.clone());
        for try_back in [false, true] {
            let text = input.clone().cast(DataTypes::string()).unwrap();
            let back = if try_back {
                text.try_cast(data_type.clone())
            } else {
                text.cast(data_type.clone())
            };
            let evaluator = Evaluator::compile(&back.unwrap()).unwrap();
            let result = evaluator.evaluate(batch.columns(), values.len(), &context).unwrap();
            for (i, value) in values.iter().enumerate() {
                prop_assert_eq!(&column_value(result.as_ref(), i, &data_type), value);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,24}|[-+0-9.eE: TZ]{0,24}") {
        let types = [
            "BOOLEAN", "TINYINT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DATE", "TIME(3)",
            "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "BINARY(3)", "CHAR(4)",
        ];
        for name in types {
            let data_type: DataType = name.parse().unwrap();
            let literal = ResolvedExpr::literal(text.as_str());
            let strict = Evaluator::compile(&literal.clone().cast(data_type.clone()).unwrap()).unwrap();
            let lenient = Evaluator::compile(&literal.try_cast(data_type).unwrap()).unwrap();
            let context = EvalContext::default();
            let lenient = lenient.evaluate(&[], 1, &context).unwrap();
            // Either both read it, or one fails and the other gives NULL.
            match strict.evaluate(&[], 1, &context) {
                Ok(strict) => prop_assert_eq!(&strict, &lenient),
                Err(error) => {
                    prop_assert_eq!(error.code(), "function.runtime");
                    prop_assert!(lenient.is_null(0));
                }
            }
        }
    }
}

#[test]
fn years_beyond_nanoseconds() {
    let old = ResolvedExpr::literal("0001-01-01 00:00:00");
    let wide = old.clone().cast(DataTypes::timestamp(6)).unwrap();
    for expr in [old, wide] {
        let context = EvalContext::default();
        let strict = expr.clone().cast(DataTypes::timestamp(9)).unwrap();
        let error = Evaluator::compile(&strict)
            .unwrap()
            .evaluate(&[], 1, &context)
            .unwrap_err();
        assert_eq!(error.code(), "function.runtime");
        let lenient = expr.try_cast(DataTypes::timestamp(9)).unwrap();
        let result = Evaluator::compile(&lenient)
            .unwrap()
            .evaluate(&[], 1, &context)
            .unwrap();
        assert!(result.is_null(0));
    }
}

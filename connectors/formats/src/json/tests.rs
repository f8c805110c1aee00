//! Tests of the json format: both sides, every option, what is not valid, and round trips.

use aquifer_table_common::connector::FormatFactory;
use aquifer_types::{DataType, DataTypes, Row, Value};
use proptest::prelude::*;

use super::JsonFormatFactory;
use crate::test_rows::{self, scalar_row, scalar_types};

const JSON: &JsonFormatFactory = &JsonFormatFactory;

fn int_and_string() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::string()]
}

fn check(options: &[(&str, &str)], text: &str, expected: &[&str]) {
    let (rows, end) = test_rows::decode(JSON, options, &int_and_string(), text.as_bytes());
    end.unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    assert_eq!(rows, expected, "{text:?}");
}

fn check_error(options: &[(&str, &str)], types: &[DataType], text: &[u8], message: &str) {
    let (_, end) = test_rows::decode(JSON, options, types, text);
    assert_eq!(
        end.unwrap_err().to_string(),
        format!("cannot read record at in.txt:{message}")
    );
}

#[test]
fn objects_by_name_in_any_order() {
    check(
        &[],
        "{\"a\":1,\"b\":\"x\"}\n{ \"b\" : \"y\" , \"c\" : [1,{\"d\":null}], \"a\":2 }\r\n",
        &["+I[1, x]", "+I[2, y]"],
    );
    check(&[], "\n{}\n\u{a}", &["+I[null, null]"]);
    check(&[], "\u{feff}{\"a\":null}", &["+I[null, null]"]);
    check(&[], r#"{"a":"7","b":true}"#, &["+I[7, true]"]);
    check(
        &[],
        r#"{"b":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00"}"#,
        &["+I[null, \"\\/\u{8}\u{c}\n\r\tä😀]"],
    );
    check(
        &[],
        r#"{"b":{ "x" : [ 1 , "a b" ] }}"#,
        &[r#"+I[null, {"x":[1,"a b"]}]"#],
    );
}

#[test]
fn errors_name_file_line_column_and_value() {
    let types = int_and_string();
    let both = |text: &str, message: &str| check_error(&[], &types, text.as_bytes(), message);
    both(
        "{}\n{\"a\":1.5}",
        "2, column 'a', value '1.5': not a value of type INT",
    );
    both(
        r#"{"a":[1]}"#,
        "1, column 'a', value '[1]': not a value of type INT",
    );
    both(
        r#"{"a":1,"a":2}"#,
        r#"1, column 'a', value '{"a":1,"a":2}': the name occurs twice"#,
    );
    both(
        r#"{"a":1"#,
        r#"1, value '{"a":1': expected ',' or '}' after a value, but the text ends"#,
    );
    both(
        r#"{"b":"x"#,
        r#"1, column 'b', value '{"b":"x': a string is not closed"#,
    );
    both(
        "[1]",
        "1, value '[1]': expected '{' of an object, found '[' at character 1",
    );
    both(
        "{} x",
        "1, value '{} x': expected the end of the line, found 'x' at character 4",
    );
    both(
        r#"{"c":01}"#,
        r#"1, value '{"c":01}': expected a value, found '0' at character 6"#,
    );
    check_error(
        &[],
        &types,
        b"{\"b\":\"\xff\"}",
        "1, value '{\"b\":\"\u{fffd}\"}': not valid UTF-8 at byte 6 of the line",
    );
    let required = [("fail-on-missing-field", "true")];
    check_error(
        &required,
        &types,
        br#"{"a":1}"#,
        r#"1, column 'b', value '{"a":1}': the field is missing"#,
    );
    let not_null = [DataTypes::int().not_null()];
    check_error(
        &[],
        &not_null,
        br#"{"a":null}"#,
        "1, column 'a', value 'null': NULL is not a value of type INT NOT NULL",
    );
    check_error(
        &[],
        &not_null,
        b"{}",
        "1, column 'a', value '{}': NULL is not a value of type INT NOT NULL",
    );
    let nested = [DataTypes::row([DataTypes::field(
        "x",
        DataTypes::array(DataTypes::int()),
    )])];
    check_error(
        &[],
        &nested,
        br#"{"a":{"x":[1,true]}}"#,
        "1, column 'a.x', value 'true': not a value of type INT",
    );
    let deep = format!("{{\"z\":{}", "[".repeat(10_000));
    let (_, end) = test_rows::decode(JSON, &[], &types, deep.as_bytes());
    assert!(end.unwrap_err().to_string().contains("nested deeper"));
}

#[test]
fn bad_records_are_skipped_and_counted_and_leave_no_trace() {
    let types = [
        DataTypes::int(),
        DataTypes::array(DataTypes::row([
            DataTypes::field("x", DataTypes::int()),
            DataTypes::field("y", DataTypes::string()),
        ])),
        DataTypes::map(DataTypes::string(), DataTypes::int()),
    ];
    let text = [
        r#"{"a":1,"b":[{"x":1,"y":"p"}],"c":{"k":1}}"#,
        r#"{"a":2,"b":[{"x":2,"y":"q"},{"x":3,"y":"r"},{"x":"bad"}]}"#,
        r#"{"b":[{"x":2}],"c":{"k":1,"l":true}}"#,
        r#"{"b":[{"x":2"#,
        r#"not json"#,
        r#"{"a":3,"b":[],"c":{}}"#,
    ];
    let (rows, skipped) = test_rows::decode(
        JSON,
        &[("ignore-parse-errors", "true")],
        &types,
        text.join("\n").as_bytes(),
    );
    assert_eq!(skipped.unwrap(), 4);
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    assert_eq!(rows, ["+I[1, [+I[1, p]], {k=1}]", "+I[3, [], {}]"]);
}

#[test]
fn options_of_the_writing_side() {
    let types = [
        DataTypes::timestamp(3),
        DataTypes::string(),
        DataTypes::double(),
    ];
    let row = Row::of(vec![
        Value::Timestamp(aquifer_types::Timestamp::from_millis(1500)),
        Value::Null,
        Value::Double(f64::NAN),
    ]);
    let encode = |options: &[(&str, &str)]| {
        String::from_utf8(
            test_rows::encode(JSON, options, &types, std::slice::from_ref(&row)).unwrap(),
        )
        .unwrap()
    };
    assert_eq!(
        encode(&[]),
        "{\"a\":\"1970-01-01 00:00:01.5\",\"b\":null,\"c\":\"NaN\"}\n"
    );
    assert_eq!(
        encode(&[
            ("timestamp-format.standard", "iso-8601"),
            ("encode.ignore-null-fields", "true")
        ]),
        "{\"a\":\"1970-01-01T00:00:01.5\",\"c\":\"NaN\"}\n"
    );
    let both = [
        ("fail-on-missing-field", "true"),
        ("ignore-parse-errors", "true"),
    ];
    assert_eq!(
        JSON.create_decoding_format(&test_rows::options(&both))
            .err()
            .unwrap()
            .code(),
        "validation.invalid_option"
    );
    let by_number = [DataTypes::map(DataTypes::int(), DataTypes::int())];
    assert_eq!(
        test_rows::encode(JSON, &[], &by_number, &[])
            .unwrap_err()
            .code(),
        "unsupported.feature"
    );
}

#[test]
fn decimals_keep_their_digits() {
    let types = [DataTypes::decimal(38, 18)];
    let (rows, _) = test_rows::decode(
        JSON,
        &[],
        &types,
        br#"{"a":12345678901234567890.123456789012345678}"#,
    );
    assert_eq!(
        rows[0].to_string(),
        "+I[12345678901234567890.123456789012345678]"
    );
}

fn nested_types() -> Vec<DataType> {
    let inner = DataTypes::row([
        DataTypes::field("n\"1", DataTypes::array(DataTypes::string())),
        DataTypes::field(
            "m",
            DataTypes::map(DataTypes::string(), DataTypes::bigint()),
        ),
    ]);
    vec![
        DataTypes::array(inner.clone()),
        DataTypes::multiset(DataTypes::string()),
        inner,
    ]
}

fn inner() -> impl Strategy<Value = Value> {
    let text = prop::option::of("[a\"\\\\\\n\u{1}ä😀]{0,3}");
    let texts = prop::option::of(prop::collection::vec(text, 0..3));
    let pairs = prop::option::of(prop::collection::btree_map(
        "[a-c\"]{0,2}",
        any::<i64>(),
        0..3,
    ));
    prop::option::of((texts, pairs)).prop_map(|inner| {
        let Some((texts, pairs)) = inner else {
            return Value::Null;
        };
        let texts = texts.map_or(Value::Null, |texts| {
            Value::Array(
                texts
                    .into_iter()
                    .map(|t| t.map_or(Value::Null, Value::String))
                    .collect(),
            )
        });
        let pairs = pairs.map_or(Value::Null, |pairs| {
            Value::Map(
                pairs
                    .into_iter()
                    .map(|(k, v)| (Value::String(k), Value::BigInt(v)))
                    .collect(),
            )
        });
        Value::Row(Box::new(Row::of(vec![texts, pairs])))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scalars_read_back(rows in prop::collection::vec(scalar_row(), 1..5), piece in 1_usize..300, iso: bool, sparse: bool) {
        let rows: Vec<Row> = rows.into_iter().map(Row::of).collect();
        let options = [
            ("timestamp-format.standard", if iso { "ISO-8601" } else { "SQL" }),
            ("encode.ignore-null-fields", if sparse { "true" } else { "false" }),
        ];
        let types = scalar_types();
        let bytes = test_rows::encode(JSON, &options, &types, &rows).unwrap();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok());
        }
        let read = test_rows::decode_in_pieces(JSON, &options, &types, &bytes, piece, 2);
        prop_assert_eq!(read, rows);
    }

    #[test]
    fn nested_values_read_back(rows in prop::collection::vec((prop::option::of(prop::collection::vec(inner(), 0..3)), prop::collection::btree_map("[a-c]", 1_i32..9, 0..3), inner()), 1..4)) {
        let rows: Vec<Row> = rows.into_iter().map(|(list, bag, one)| Row::of(vec![
            list.map_or(Value::Null, Value::Array),
            Value::Map(bag.into_iter().map(|(k, v)| (Value::String(k), Value::Int(v))).collect()),
            one,
        ])).collect();
        let types = nested_types();
        let bytes = test_rows::encode(JSON, &[], &types, &rows).unwrap();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok());
        }
        prop_assert_eq!(test_rows::decode(JSON, &[], &types, &bytes).0, rows);
    }

    #[test]
    fn validity_is_that_of_another_reader(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "\"a\"", "\"z\"", "\"\\u00\"", "\"\\ud800\"", "1", "-0.5e+3", "01", "1.", "true", "nul", "null", " ", "\"", "\\",
    ]), 0..8)) {
        // Without columns nothing but the grammar counts; a repeated name is no fault then.
        let text = format!("{{\"z\":{}}}", parts.concat());
        let (_, end) = test_rows::decode(JSON, &[], &[], text.as_bytes());
        let valid = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok();
        prop_assert_eq!(end.is_ok(), valid, "{}", text);
    }
}

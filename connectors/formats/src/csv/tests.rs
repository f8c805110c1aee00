//! Tests of the csv format: both sides, every option, what is not valid, and round trips.

use aquifer_table_common::connector::{DecoderContext, FormatFactory};
use aquifer_types::{DataType, DataTypes, Row, Value, row_values};
use proptest::prelude::*;

use super::CsvFormatFactory;
use crate::test_rows::{self, scalar_row, scalar_types};

const CSV: &CsvFormatFactory = &CsvFormatFactory;

fn int_and_string() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::string()]
}

/// The rows of a text as `1,x|2,y`.
fn check(options: &[(&str, &str)], text: &str, expected: &str) {
    let (rows, end) = test_rows::decode(CSV, options, &int_and_string(), text.as_bytes());
    end.unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(show(&rows), expected, "{text:?} {options:?}");
}

fn show(rows: &[Row]) -> String {
    let show = |row: &Row| {
        let fields: Vec<String> = row.fields().iter().map(Value::to_string).collect();
        fields.join(",")
    };
    rows.iter().map(show).collect::<Vec<_>>().join("|")
}

fn check_error(options: &[(&str, &str)], text: &[u8], rows_before: &str, message: &str) {
    let (rows, end) = test_rows::decode(CSV, options, &int_and_string(), text);
    assert_eq!(end.unwrap_err().to_string(), message);
    assert_eq!(show(&rows), rows_before);
}

#[test]
fn records_lines_and_quotes() {
    check(&[], "1,a\n2,b\n", "1,a|2,b");
    check(&[], "1,a\r\n\r\n\n2,b", "1,a|2,b");
    check(&[], "1,a\r2,b\r", "1,a|2,b");
    check(&[], "1,\"a,\"\"b\"\"\nc\"\n\"2\",\"\"\n", "1,a,\"b\"\nc|2,");
    check(&[], " 1 , a\"b \n", "1, a\"b ");
    check(&[], "1,\"a\"  \n", "1,a");
    check(&[], "\u{feff}1,ä\n", "1,ä");
    check(&[], "", "");
    check(&[], ",\n", "null,");
}

#[test]
fn every_option_is_obeyed() {
    check(&[("field-delimiter", "|")], "1|a,b\n", "1,a,b");
    check(&[("field-delimiter", "\\t")], "1\ta\n", "1,a");
    check(&[("field-delimiter", "\\u0001")], "1\u{1}a\n", "1,a");
    check(
        &[("quote-character", "'")],
        "1,'a,b'\n2,\"c\"\n",
        "1,a,b|2,\"c\"",
    );
    check(&[("disable-quote-character", "true")], "1,\"a\n", "1,\"a");
    check(
        &[("escape-character", "\\")],
        "1,a\\,b\\\\\\n\n2,\"x\\\"y\"\n",
        "1,a,b\\\n|2,x\"y",
    );
    check(&[("allow-comments", "true")], "# x\n1,#a\n#", "1,#a");
    check(&[("null-literal", "n/a")], "n/a,n/a\n1,\n", "null,null|1,");
    check(&[("header", "true")], "id,name\n1,a\n", "1,a");
    check(
        &[("header", "true")],
        "\u{feff}\n\"id\n\",name\n1,a\n",
        "1,a",
    );
    check(&[("header", "true")], "id,name", "");
    let ignore = [("ignore-parse-errors", "true")];
    check(
        &ignore,
        "1,a\nx,b\n2\n3,c,d\n4,\"d\"e\n5,f\n6,\"g\n7,h\n",
        "1,a|5,f|7,h",
    );
    let (_, skipped) =
        test_rows::decode(CSV, &ignore, &int_and_string(), b"1,a\nx,b\n2\n\xff,\xff\n");
    assert_eq!(skipped.unwrap(), 3);
}

#[test]
fn errors_name_file_line_column_and_value() {
    let at = "cannot read record at in.txt";
    check_error(
        &[],
        b"1,a\n\nx1,b\n2,c",
        "1,a",
        &format!("{at}:3, column 'a', value 'x1': not a value of type INT"),
    );
    check_error(
        &[],
        b"1,\"a\n\"\n2\n3,c",
        "1,a\n",
        &format!("{at}:3, value '2': the record has 1 fields, the table 2"),
    );
    check_error(
        &[],
        b"1,a,b\n",
        "",
        &format!("{at}:1, value '1,a,b': the record has 3 fields, the table 2"),
    );
    check_error(
        &[],
        b"1,a\n2,\"b\nc",
        "1,a",
        &format!("{at}:2, value '2,\"b': a quote is not closed"),
    );
    check_error(
        &[],
        b"1,\"a\"b\n",
        "",
        &format!("{at}:1, value '1,\"a\"b': text follows a closing quote"),
    );
    check_error(
        &[],
        b"1,a\n2,b\xff\n",
        "1,a",
        &format!(
            "{at}:2, column 'b', value 'b\u{fffd}': the text is not valid UTF-8 at its byte 1"
        ),
    );
    check_error(
        &[("escape-character", "\\")],
        b"1,a\\",
        "",
        &format!("{at}:1, value '1,a\\': nothing follows the escape character"),
    );
    let types = [DataTypes::int().not_null(), DataTypes::boolean()];
    for (text, reason) in [
        (
            ",true",
            "column 'a', value '': NULL is not a value of type INT NOT NULL",
        ),
        (
            "1,yes",
            "column 'b', value 'yes': not a value of type BOOLEAN",
        ),
        (
            "99999999999,true",
            "column 'a', value '99999999999': not a value of type INT NOT NULL",
        ),
    ] {
        let (_, end) = test_rows::decode(CSV, &[], &types, text.as_bytes());
        assert_eq!(end.unwrap_err().to_string(), format!("{at}:1, {reason}"));
    }
}

#[test]
fn a_huge_line_is_read_and_shown_in_part() {
    let long = "x".repeat(3_000_000);
    check(&[], &format!("1,{long}\n"), &format!("1,{long}"));
    let (_, end) = test_rows::decode(CSV, &[], &int_and_string(), format!("{long},1").as_bytes());
    assert!(end.unwrap_err().to_string().len() < 300);
}

#[test]
fn only_asked_columns_are_looked_at() {
    let context = DecoderContext {
        fields: test_rows::fields(&[DataTypes::int(), DataTypes::int(), DataTypes::string()]),
        projection: vec![2, 0],
    };
    let format = CSV
        .create_decoding_format(&test_rows::options(&[]))
        .unwrap();
    let mut decoder = format.create_decoder(&context).unwrap();
    decoder.start("f", 0, 1);
    decoder.decode(b"1,bad,x\n2,,y\n", true, 10).unwrap();
    let rows = decoder
        .take()
        .to_rows(&[DataTypes::string(), DataTypes::int()]);
    assert_eq!(show(&rows), "x,1|y,2");
}

#[test]
fn arrays_and_rows_in_a_field() {
    let types = [
        DataTypes::array(DataTypes::int()),
        DataTypes::row_of([DataTypes::string(), DataTypes::int()]),
    ];
    let (rows, end) = test_rows::decode(CSV, &[], &types, b"1;;3,x;5\n,\n7,;\n");
    end.unwrap();
    assert_eq!(
        show(&rows),
        "[1, null, 3],+I[x, 5]|null,null|[7],+I[, null]"
    );
    assert_eq!(
        test_rows::encode(CSV, &[], &types, &rows).unwrap(),
        b"1;;3,x;5\n,\n7,;\n"
    );
    let (_, end) = test_rows::decode(
        CSV,
        &[("ignore-parse-errors", "true")],
        &types,
        b"1;x;3,x;5\n1,x\n1;2,x;1;2\n2,y;3\n",
    );
    assert_eq!(end.unwrap(), 3);
    let rows = [Row::of(vec![
        Value::Null,
        Value::Row(Box::new(Row::of(row_values!["a;b", 1]))),
    ])];
    let error = test_rows::encode(CSV, &[], &types, &rows).unwrap_err();
    assert!(
        error.to_string().contains("csv.array-element-delimiter"),
        "{error}"
    );
    let map = [DataTypes::map(DataTypes::string(), DataTypes::int())];
    assert_eq!(
        test_rows::encode(CSV, &[], &map, &[]).unwrap_err().code(),
        "unsupported.feature"
    );
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    for given in [
        [("field-delimiter", "||")],
        [("field-delimiter", "ä")],
        [("field-delimiter", "\n")],
        [("field-delimiter", "\"")],
        [("array-element-delimiter", "")],
    ] {
        let error = CSV
            .create_decoding_format(&test_rows::options(&given))
            .err()
            .unwrap();
        assert_eq!(error.code(), "validation.invalid_option", "{given:?}");
    }
    let both = [
        ("quote-character", "'"),
        ("disable-quote-character", "true"),
    ];
    assert!(
        CSV.create_encoding_format(&test_rows::options(&both))
            .is_err()
    );
}

#[test]
fn what_the_dialect_cannot_hold_is_an_error() {
    let bare = [("disable-quote-character", "true")];
    let types = [DataTypes::string()];
    for text in ["a,b", "a\nb", ""] {
        let error =
            test_rows::encode(CSV, &bare, &types, &[Row::of(row_values![text])]).unwrap_err();
        assert_eq!(error.code(), "sink.record", "{text:?}");
    }
    let retraction = Row::of_kind(aquifer_types::RowKind::Delete, row_values!["x"]);
    assert_eq!(
        test_rows::encode(CSV, &[], &types, &[retraction])
            .unwrap_err()
            .code(),
        "internal.error"
    );
}

#[test]
fn a_header_is_written_and_read_back() {
    let header = [("header", "true")];
    let rows = [Row::of(row_values![1, "x"])];
    let bytes = test_rows::encode(CSV, &header, &int_and_string(), &rows).unwrap();
    assert_eq!(bytes, b"a,b\n1,x\n");
    let (read, _) = test_rows::decode(CSV, &header, &int_and_string(), &bytes);
    assert_eq!(read, rows);
}

/// Texts full of what is special somewhere.
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "a", "ä", ",", "\"", "\n", "\r", "\\", "#", ";", " ", "\u{feff}", "'",
        ]),
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

fn dialect() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    prop::sample::select(vec![
        vec![],
        vec![("field-delimiter", ";"), ("quote-character", "'")],
        vec![("escape-character", "\\"), ("allow-comments", "true")],
        vec![
            ("escape-character", "\\"),
            ("allow-comments", "true"),
            ("disable-quote-character", "true"),
        ],
        vec![("header", "true")],
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scalars_read_back(rows in prop::collection::vec(scalar_row(), 1..5), piece in 1_usize..200, max_rows in 1_usize..4) {
        let rows: Vec<Row> = rows.into_iter().map(Row::of).collect();
        let types = scalar_types();
        let bytes = test_rows::encode(CSV, &[], &types, &rows).unwrap();
        let read = test_rows::decode_in_pieces(CSV, &[], &types, &bytes, piece, max_rows);
        prop_assert_eq!(read, rows);
    }

    #[test]
    fn texts_read_back(texts in prop::collection::vec((text(), text()), 1..6), options in dialect(), piece in 1_usize..9) {
        let rows: Vec<Row> = texts.iter().map(|(a, b)| Row::of(row_values![a.as_str(), b.as_str()])).collect();
        let types = [DataTypes::string(), DataTypes::string()];
        let bytes = test_rows::encode(CSV, &options, &types, &rows).unwrap();
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let read = test_rows::decode_in_pieces(CSV, &options, &types, &bytes, piece, 2);
        prop_assert_eq!(&read, &rows, "{:?}", shown);
    }

    #[test]
    fn another_reader_sees_the_same(texts in prop::collection::vec((text(), text()), 1..6)) {
        let rows: Vec<Row> = texts.iter().map(|(a, b)| Row::of(row_values![a.as_str(), b.as_str()])).collect();
        let bytes = test_rows::encode(CSV, &[], &[DataTypes::string(), DataTypes::string()], &rows).unwrap();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&bytes[..]);
        let read: Vec<(String, String)> = reader.records().map(|record| {
            let record = record.unwrap();
            (record[0].to_string(), record[1].to_string())
        }).collect();
        prop_assert_eq!(read, texts);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop::sample::select(b"1a,\"\n\r\\#\xff;".to_vec()), 0..40), options in dialect()) {
        let types = int_and_string();
        let (before, end) = test_rows::decode(CSV, &options, &types, &bytes);
        let mut ignoring = options.clone();
        ignoring.push(("ignore-parse-errors", "true"));
        let (rows, skipped) = test_rows::decode(CSV, &ignoring, &types, &bytes);
        match end {
            Ok(_) => prop_assert_eq!((rows, skipped.unwrap()), (before, 0)),
            Err(_) => {
                prop_assert!(skipped.unwrap() > 0);
                prop_assert_eq!(&rows[..before.len()], &before[..]);
            }
        }
    }
}

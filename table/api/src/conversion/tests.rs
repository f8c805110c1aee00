//! Values to columns and back.

use std::collections::BTreeMap;
use std::fmt::Debug;

use aquifer_types::{ChangeBatch, Row, Value, row_values};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::*;

/// Converts values there and back; answers the columns as text and the rows as SQL sees them.
fn check<T>(values: &[T]) -> (String, Vec<String>)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug + Clone,
{
    let record = RecordType::of::<T>().unwrap();
    let types = record.types();
    let mut writer = ColumnWriter::<T>::new(&record, &types).unwrap();
    for _ in 0..2 {
        let columns = writer.write(values).unwrap();
        for (column, data_type) in columns.iter().zip(&types) {
            assert_eq!(
                column.data_type(),
                &data_type.to_arrow(),
                "the physical form of {data_type}"
            );
        }
        let reader = ColumnReader::<T>::new(&record, &types);
        assert_eq!(reader.read(&columns).unwrap(), values);
    }
    let columns = writer.write(values).unwrap();
    let batch = ChangeBatch::new(columns, None, values.len()).unwrap();
    let rows = batch.to_rows(&types).iter().map(Row::to_string).collect();
    let fields: Vec<String> = record
        .fields
        .iter()
        .map(|f| format!("{} {}", f.name, f.data_type))
        .collect();
    (fields.join(", "), rows)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Point {
    x: f64,
    label: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    id: i64,
    small: (i8, i16, i32),
    wide: (u8, u16, u32, u64),
    price: Option<f32>,
    is_open: bool,
    tags: Vec<String>,
    points: Vec<Point>,
    place: Option<Point>,
    raw: Vec<u8>,
    counts: BTreeMap<String, i32>,
}

#[test]
fn structs_give_a_column_per_field() {
    let order = Order {
        id: 1,
        small: (i8::MIN, i16::MAX, -3),
        wide: (u8::MAX, u16::MAX, u32::MAX, 7),
        price: Some(1.5),
        is_open: true,
        tags: vec!["a".into(), "é".into()],
        points: vec![
            Point {
                x: 0.5,
                label: None,
            },
            Point {
                x: -1.0,
                label: Some("p".into()),
            },
        ],
        place: None,
        raw: vec![0, 255],
        counts: BTreeMap::from([("k".to_string(), 2)]),
    };
    let other = Order {
        price: None,
        tags: Vec::new(),
        points: Vec::new(),
        place: Some(Point {
            x: 2.0,
            label: Some(String::new()),
        }),
        ..order.clone()
    };
    let (columns, rows) = check(&[order, other]);
    assert_eq!(
        columns,
        "id BIGINT NOT NULL, \
         small ROW<`f0` TINYINT NOT NULL, `f1` SMALLINT NOT NULL, `f2` INT NOT NULL> NOT NULL, \
         wide ROW<`f0` SMALLINT NOT NULL, `f1` INT NOT NULL, `f2` BIGINT NOT NULL, `f3` BIGINT NOT NULL> NOT NULL, \
         price FLOAT, is_open BOOLEAN NOT NULL, tags ARRAY<STRING NOT NULL> NOT NULL, \
         points ARRAY<ROW<`x` DOUBLE NOT NULL, `label` STRING> NOT NULL> NOT NULL, \
         place ROW<`x` DOUBLE NOT NULL, `label` STRING>, raw BYTES NOT NULL, \
         counts MAP<STRING NOT NULL, INT NOT NULL> NOT NULL"
    );
    assert!(rows[0].starts_with("+I[1, "), "{}", rows[0]);
    assert!(rows[1].contains("[2.0, ]"), "{}", rows[1]);
}

#[test]
fn tuples_and_plain_values_are_numbered() {
    assert_eq!(
        check(&[("a".to_string(), 1i32), ("b".to_string(), 2)]),
        (
            "f0 STRING NOT NULL, f1 INT NOT NULL".to_string(),
            vec!["+I[a, 1]".to_string(), "+I[b, 2]".to_string()]
        )
    );
    assert_eq!(
        check(&[7i64]),
        ("f0 BIGINT NOT NULL".to_string(), vec!["+I[7]".to_string()])
    );
    assert_eq!(
        check(&[None, Some("x".to_string())]),
        (
            "f0 STRING".to_string(),
            vec!["+I[null]".to_string(), "+I[x]".to_string()]
        )
    );
    assert_eq!(check(&[vec![1i32, 2]]).0, "f0 ARRAY<INT NOT NULL> NOT NULL");
    assert_eq!(check::<(i32,)>(&[]).0, "f0 INT NOT NULL");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Celsius(f64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat {
    sensor_id: u32,
    #[serde(rename = "t")]
    temperature: Celsius,
    #[serde(skip)]
    cached: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    numbers: Option<i8>,
    small: i16,
    exact: f32,
    flag: Option<bool>,
    sign: char,
    big: u64,
    last: Option<u16>,
}

#[test]
fn flat_records_have_a_way_of_their_own() {
    let first = Flat {
        sensor_id: u32::MAX,
        temperature: Celsius(-0.5),
        cached: 0,
        note: None,
        numbers: Some(i8::MIN),
        small: -2,
        exact: 0.25,
        flag: None,
        sign: 'é',
        big: i64::MAX as u64,
        last: Some(u16::MAX),
    };
    let second = Flat {
        note: Some(String::new()),
        numbers: None,
        flag: Some(true),
        last: None,
        ..first.clone()
    };
    let (columns, rows) = check(&[first, second]);
    assert_eq!(
        columns,
        "sensorId BIGINT NOT NULL, t DOUBLE NOT NULL, note STRING, numbers TINYINT, small SMALLINT NOT NULL, \
         exact FLOAT NOT NULL, flag BOOLEAN, sign STRING NOT NULL, big BIGINT NOT NULL, last INT"
    );
    assert_eq!(
        rows,
        [
            "+I[4294967295, -0.5, null, -128, -2, 0.25, null, é, 9223372036854775807, 65535]",
            "+I[4294967295, -0.5, , null, -2, 0.25, true, é, 9223372036854775807, null]"
        ]
    );
    assert_eq!(check(&[Celsius(1.0)]).0, "f0 DOUBLE NOT NULL");
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Wrapped((i32, String));
    assert_eq!(
        check(&[Wrapped((1, "a".into()))]).0,
        "f0 INT NOT NULL, f1 STRING NOT NULL"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Circle(f64),
    Square,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Drawing {
    shapes: Vec<Shape>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Nothing {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Tree {
    children: Vec<Tree>,
}

/// A type that is read from texts of one form alone, as the dates of other crates are.
macro_rules! text_type {
    ($($name:ident $form:literal;)+) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        struct $name(String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let form: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
                if form.starts_with($form) && form.ends_with('Z') == $form.ends_with('Z') && form.len() < 31 {
                    let is_longer = form.len() > $form.len();
                    if !is_longer || form.as_bytes()[$form.trim_end_matches('Z').len()] == b'.' {
                        return Ok($name(text));
                    }
                }
                Err(format!("'{text}' is not of the form {}", $form))
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }
    )+};
}

text_type! {
    At "9999-99-99T99:99:99";
    Instant "9999-99-99T99:99:99Z";
    Day "9999-99-99";
    Clock "99:99:99";
    Plate "B-99";
}

#[test]
fn types_that_are_text_for_serde_are_recognised() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Times {
        at: At,
        instant: Option<Instant>,
        day: Option<Day>,
        time: Clock,
        address: std::net::IpAddr,
        more: Vec<At>,
        positive: std::num::NonZeroU32,
    }
    let at = At("2024-02-29T23:59:58".to_string());
    let times = Times {
        at: at.clone(),
        instant: Some(Instant("2024-02-29T23:59:58Z".to_string())),
        day: Some(Day("2024-02-29".to_string())),
        time: Clock("01:02:03".to_string()),
        address: "10.0.0.1".parse().unwrap(),
        more: vec![at.clone()],
        positive: std::num::NonZeroU32::MIN,
    };
    let (columns, rows) = check(&[
        times.clone(),
        Times {
            day: None,
            more: Vec::new(),
            ..times
        },
    ]);
    assert_eq!(
        columns,
        "at TIMESTAMP(9) NOT NULL, instant TIMESTAMP_LTZ(9), day DATE, time TIME(3) NOT NULL, \
         address STRING NOT NULL, more ARRAY<TIMESTAMP(9) NOT NULL> NOT NULL, positive BIGINT NOT NULL"
    );
    assert!(
        rows[0].starts_with("+I[2024-02-29T23:59:58, "),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains(", null, "), "{}", rows[1]);
    assert_eq!(check(&[at]).0, "f0 TIMESTAMP(9) NOT NULL");
    assert!(refused::<(i32, Plate)>().contains("field 'f1' is read from a text of its own form"));
}

fn refused<T: DeserializeOwned>() -> String {
    let error = RecordType::of::<T>().unwrap_err();
    assert_eq!(error.code(), "schema.invalid_type");
    error.to_string()
}

#[test]
fn what_is_no_column_is_refused_by_name() {
    let message = refused::<Drawing>();
    assert!(
        message.contains("Drawing") && message.contains("field 'shapes[]' is an enum"),
        "{message}"
    );
    assert!(refused::<Shape>().contains("field 'f0' is an enum"));
    assert!(refused::<Nothing>().contains("without fields"));
    assert!(refused::<(i32, Vec<u128>)>().contains("field 'f1[]' is a 128-bit integer"));
    assert!(refused::<Tree>().contains("in itself"));
    assert!(refused::<(i32, ())>().contains("field 'f1'"));
    // Made here so that both variants are known to be used.
    assert_ne!(Shape::Circle(1.0), Shape::Square);
}

#[test]
fn values_that_do_not_fit_name_their_field() {
    #[derive(Serialize, Deserialize)]
    struct Wide {
        size: u64,
    }
    let record = RecordType::of::<Wide>().unwrap();
    let mut writer = ColumnWriter::<Wide>::new(&record, &record.types()).unwrap();
    let error = writer
        .write(&[Wide { size: u64::MAX }])
        .unwrap_err()
        .to_string();
    assert!(error.contains("Wide") && error.contains("size"), "{error}");

    let nullable = RecordType::of::<(Option<i64>,)>().unwrap();
    let mut writer = ColumnWriter::<(Option<i64>,)>::new(&nullable, &nullable.types()).unwrap();
    let columns = writer.write(&[(None,)]).unwrap();
    let strict = RecordType::of::<(i64,)>().unwrap();
    let error = ColumnReader::<(i64,)>::new(&strict, &strict.types())
        .read(&columns)
        .unwrap_err()
        .to_string();
    assert!(error.contains("column 'f0' is NULL"), "{error}");
}

fn fields_of(rows: &[Row]) -> String {
    match row_fields(rows) {
        Ok(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|f| format!("{} {}", f.name, f.data_type))
                .collect();
            fields.join(", ")
        }
        Err(error) => {
            assert_eq!(error.code(), "schema.invalid_schema");
            error.to_string()
        }
    }
}

#[test]
fn rows_tell_their_columns() {
    let rows = [
        Row::of(row_values!["Alice", Value::Null]),
        Row::of(row_values!["Bob", 12]),
    ];
    assert_eq!(fields_of(&rows), "f0 STRING, f1 INT");
    let names = ["name".to_string(), "age".to_string()].into();
    assert_eq!(
        fields_of(&[Row::with_names(names, row_values!["Alice", 1i64])]),
        "name STRING, age BIGINT"
    );
    assert!(fields_of(&[]).contains("without rows"));
    assert!(
        fields_of(&[Row::of(row_values![1]), Row::of(row_values!["x"])])
            .contains("field 0 of row 1 has type STRING")
    );
    assert!(
        fields_of(&[Row::of(row_values![1]), Row::of(row_values![1, 2])])
            .contains("row 1 has 2 fields")
    );
    assert!(fields_of(&[Row::of(row_values![Value::Null])]).contains("NULL in all rows"));
}

//! Tests of made-up rows: options, limits, determinism over workers and restarts.

use aquifer_runtime::operator::MemoryState;
use aquifer_runtime::source::{Boundedness, SourceFactory, SourceStatus};
use aquifer_runtime::testing::SourceHarness;
use aquifer_table_common::TableError;
use aquifer_table_common::connector::{FactoryContext, ScanColumn, ScanColumnKind, ScanContext};
use aquifer_table_common::identifier::ObjectIdentifier;
use aquifer_table_common::options::TableOptions;
use aquifer_table_common::schema::ResolvedSchema;
use aquifer_types::{ChangeBatch, DataType, DataTypes, Field, Row, Value};

fn scan(
    fields: &[Field],
    options: &[(&str, &str)],
) -> Result<(SourceFactory, Boundedness), TableError> {
    let mut all: TableOptions = options.iter().copied().collect();
    all.set("connector", "datagen");
    let registry = crate::registry();
    let context = FactoryContext {
        identifier: &ObjectIdentifier::of("c", "d", "t"),
        schema: &ResolvedSchema::physical(fields.to_vec()),
        options: &all,
        partition_keys: &[],
        registry: &registry,
    };
    let source = registry.create_source(&context)?;
    let columns = fields.iter().enumerate().map(|(index, field)| ScanColumn {
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        kind: ScanColumnKind::Physical(index),
    });
    let provider = source.scan(&ScanContext {
        table: "t".to_string(),
        columns: columns.collect(),
    })?;
    Ok((provider.factory, source.boundedness()))
}

/// Polls to the end, or `polls` times.
fn read(reader: &mut SourceHarness, types: &[DataType], max_rows: usize, polls: usize) -> Vec<Row> {
    reader.set_processing_time(86_400_000);
    let mut rows = Vec::new();
    for _ in 0..polls {
        let (status, batches) = reader.poll::<ChangeBatch>(max_rows).unwrap();
        for batch in batches {
            assert!(batch.len() <= max_rows);
            rows.extend(batch.to_rows(types));
        }
        if status == SourceStatus::Finished {
            break;
        }
    }
    rows
}

const FAST: (&str, &str) = ("rows-per-second", "1000000000000");

fn id_and_price() -> Vec<Field> {
    vec![
        Field::new("id", DataTypes::bigint()),
        Field::new("price", DataTypes::decimal(5, 2)),
    ]
}

fn types(fields: &[Field]) -> Vec<DataType> {
    fields.iter().map(|field| field.data_type.clone()).collect()
}

#[test]
fn rows_are_the_same_for_any_workers_and_restarts() {
    let fields = id_and_price();
    let types = types(&fields);
    let options = [
        FAST,
        ("fields.id.kind", "sequence"),
        ("fields.id.start", "1"),
        ("fields.id.end", "500"),
        ("fields.price.min", "1.5"),
        ("fields.price.max", "9.99"),
        ("fields.price.null-rate", "0.1"),
    ];
    let (factory, boundedness) = scan(&fields, &options).unwrap();
    assert_eq!(boundedness, Boundedness::Bounded);
    let mut one = SourceHarness::on_worker(factory(), 0, 1).unwrap();
    let expected = read(&mut one, &types, 100, usize::MAX);
    assert_eq!(expected.len(), 500);
    for (index, row) in expected.iter().enumerate() {
        assert_eq!(row.fields()[0], Value::BigInt(index as i64 + 1));
        if !row.fields()[1].is_null() {
            let price: f64 = row.fields()[1].to_string().parse().unwrap();
            assert!((1.5..=9.99).contains(&price), "{price}");
        }
    }
    let nulls = expected
        .iter()
        .filter(|row| row.fields()[1].is_null())
        .count();
    assert!((20..90).contains(&nulls), "{nulls}");

    let mut rows = Vec::new();
    let mut state = MemoryState::default();
    for worker in 0..3 {
        let mut reader = SourceHarness::on_worker(factory(), worker, 3).unwrap();
        rows.extend(read(&mut reader, &types, 7, 3 + worker * 4));
        reader.snapshot(&mut state).unwrap();
    }
    for worker in 0..2 {
        let mut reader = SourceHarness::on_worker(factory(), worker, 2).unwrap();
        reader.restore(&state).unwrap();
        rows.extend(read(&mut reader, &types, 1000, usize::MAX));
    }
    rows.sort_by(|a, b| a.fields().cmp(b.fields()));
    assert_eq!(rows, expected);

    let mut seeded = options.to_vec();
    seeded.push(("seed", "7"));
    let (factory, _) = scan(&fields, &seeded).unwrap();
    let mut reader = SourceHarness::on_worker(factory(), 0, 1).unwrap();
    assert_ne!(read(&mut reader, &types, 100, usize::MAX), expected);
}

#[test]
fn every_type_has_values() {
    let fields: Vec<Field> = [
        DataTypes::boolean(),
        DataTypes::char(4),
        DataTypes::string(),
        DataTypes::bytes(),
        DataTypes::decimal(38, 0),
        DataTypes::tinyint().not_null(),
        DataTypes::smallint(),
        DataTypes::int(),
        DataTypes::float(),
        DataTypes::double(),
        DataTypes::date(),
        DataTypes::time(0),
        DataTypes::timestamp(3),
        DataTypes::timestamp_ltz(9),
        DataTypes::interval_year_month(),
        DataTypes::interval_day_time(),
        DataTypes::array(DataTypes::int()),
        DataTypes::multiset(DataTypes::string()),
        DataTypes::map(DataTypes::string(), DataTypes::row_of([DataTypes::int()])),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, data_type)| Field::new(format!("f{index}"), data_type))
    .collect();
    let options = [
        FAST,
        ("number-of-rows", "50"),
        ("fields.f2.length", "7"),
        ("fields.f3.var-len", "true"),
        ("fields.f12.max-past", "1 h"),
        ("fields.f16.length", "2"),
        ("fields.f16.element.max", "3"),
        ("fields.f18.value.f0.kind", "random"),
    ];
    let (factory, _) = scan(&fields, &options).unwrap();
    let mut reader = SourceHarness::on_worker(factory(), 0, 1).unwrap();
    let rows = read(&mut reader, &types(&fields), 100, usize::MAX);
    assert_eq!(rows.len(), 50);
    for row in rows {
        let values = row.fields();
        assert!(values.iter().all(|value| !value.is_null()), "{row}");
        assert_eq!(values[1].as_str().unwrap().len(), 4);
        assert_eq!(values[2].as_str().unwrap().len(), 7);
        assert_eq!(values[10], Value::Date(1));
        let Value::Timestamp(at) = &values[12] else {
            panic!("{row}")
        };
        assert!((82_800_000..=86_400_000).contains(&at.to_millis()));
        let Value::Array(elements) = &values[16] else {
            panic!("{row}")
        };
        assert!(elements.len() == 2 && elements.iter().all(|e| e.as_i64().unwrap() <= 3));
    }
}

#[test]
fn a_rate_is_kept_by_waiting() {
    let fields = id_and_price();
    let (factory, boundedness) = scan(&fields, &[("rows-per-second", "1")]).unwrap();
    assert_eq!(boundedness, Boundedness::Unbounded);
    let mut reader = SourceHarness::on_worker(factory(), 0, 1).unwrap();
    let (status, batches) = reader.poll::<ChangeBatch>(1000).unwrap();
    assert_eq!((status, batches[0].len()), (SourceStatus::Ready, 1));
    let (status, batches) = reader.poll::<ChangeBatch>(1000).unwrap();
    assert!(
        batches.is_empty() && matches!(status, SourceStatus::Waiting(_)),
        "{status:?}"
    );
}

#[test]
fn wrong_options_are_named() {
    let check = |options: &[(&str, &str)], code: &str, text: &str| {
        let error = scan(&id_and_price(), options).err().unwrap();
        assert_eq!(error.code(), code, "{options:?}");
        assert!(error.report().contains(text), "{options:?}: {error:?}");
    };
    check(
        &[("fields.id.knd", "random")],
        "validation.unknown_option",
        "'fields.id.kind'",
    );
    check(
        &[("fields.x.kind", "random")],
        "validation.unknown_option",
        "fields.x.kind",
    );
    check(
        &[("fields.id.kind", "sequence")],
        "validation.missing_option",
        "fields.id.start",
    );
    check(
        &[("fields.id.min", "5"), ("fields.id.max", "4")],
        "validation.invalid_option",
        "fields.id.max",
    );
    check(
        &[("fields.id.min", "x")],
        "validation.invalid_option",
        "fields.id.min",
    );
    check(
        &[("fields.price.max", "1000")],
        "validation.invalid_option",
        "DECIMAL(5, 2)",
    );
    check(
        &[("fields.id.null-rate", "2")],
        "validation.invalid_option",
        "from 0 to 1",
    );
    check(
        &[("rows-per-second", "0")],
        "validation.invalid_option",
        "rows-per-second",
    );
}

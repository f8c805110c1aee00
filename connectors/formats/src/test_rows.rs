//! Rows and calls that the tests of all formats share.

use aquifer_table_common::connector::{DecodeError, Decoder, DecoderContext, FormatFactory};
use aquifer_table_common::options::TableOptions;
use aquifer_types::{ChangeBatch, DataType, DataTypes, Decimal, Field, Row, Timestamp, Value};
use proptest::prelude::*;

pub(crate) fn options(options: &[(&str, &str)]) -> TableOptions {
    options.iter().copied().collect()
}

/// Columns named `a`, `b`, ...
pub(crate) fn fields(types: &[DataType]) -> Vec<Field> {
    let name = |index: usize| char::from(b'a' + index as u8).to_string();
    let fields = types.iter().enumerate();
    fields
        .map(|(index, t)| Field::new(name(index), t.clone()))
        .collect()
}

pub(crate) fn decoder(
    factory: &dyn FormatFactory,
    given: &[(&str, &str)],
    types: &[DataType],
) -> Box<dyn Decoder> {
    let context = DecoderContext {
        fields: fields(types),
        projection: (0..types.len()).collect(),
    };
    let format = factory.create_decoding_format(&options(given)).unwrap();
    let mut decoder = format.create_decoder(&context).unwrap();
    decoder.start("in.txt", 0, 1);
    decoder
}

/// The rows of `bytes`, and how the reading ended.
pub(crate) fn decode(
    factory: &dyn FormatFactory,
    options: &[(&str, &str)],
    types: &[DataType],
    bytes: &[u8],
) -> (Vec<Row>, Result<u64, DecodeError>) {
    let mut decoder = decoder(factory, options, types);
    let result = decoder.decode(bytes, true, usize::MAX);
    let rows = decoder.take().to_rows(types);
    (rows, result.map(|_| decoder.skipped()))
}

/// As [`decode`] of what is right, fed in pieces of `piece` bytes and `max_rows` rows a call.
pub(crate) fn decode_in_pieces(
    factory: &dyn FormatFactory,
    options: &[(&str, &str)],
    types: &[DataType],
    bytes: &[u8],
    piece: usize,
    max_rows: usize,
) -> Vec<Row> {
    let mut decoder = decoder(factory, options, types);
    let (mut rows, mut at, mut end) = (Vec::new(), 0, 0);
    loop {
        let is_end = end == bytes.len();
        let decoded = decoder.decode(&bytes[at..end], is_end, max_rows).unwrap();
        assert!(decoded.rows <= max_rows);
        at += decoded.bytes;
        let batch = decoder.take();
        assert_eq!(batch.len(), decoded.rows);
        rows.extend(batch.to_rows(types));
        if decoded.rows == max_rows {
            continue;
        }
        if is_end {
            assert_eq!(at, bytes.len());
            return rows;
        }
        end = (end + piece).min(bytes.len());
    }
}

pub(crate) fn encode(
    factory: &dyn FormatFactory,
    given: &[(&str, &str)],
    types: &[DataType],
    rows: &[Row],
) -> aquifer_table_common::Result<Vec<u8>> {
    let format = factory.create_encoding_format(&options(given))?;
    let mut encoder = format.create_encoder(&fields(types))?;
    let mut out = Vec::new();
    encoder.start(&mut out);
    encoder.encode(&ChangeBatch::from_rows(rows, types).unwrap(), &mut out)?;
    Ok(out)
}

/// A column of every scalar type.
pub(crate) fn scalar_types() -> Vec<DataType> {
    vec![
        DataTypes::boolean(),
        DataTypes::tinyint(),
        DataTypes::smallint(),
        DataTypes::int(),
        DataTypes::bigint(),
        DataTypes::float(),
        DataTypes::double(),
        DataTypes::decimal(10, 3),
        DataTypes::decimal(38, 20),
        DataTypes::date(),
        DataTypes::time(3),
        DataTypes::timestamp(3),
        DataTypes::timestamp(9),
        DataTypes::timestamp_ltz(6),
        DataTypes::interval_year_month(),
        DataTypes::interval_day_time(),
        DataTypes::bytes(),
    ]
}

fn instant() -> impl Strategy<Value = i64> {
    -4_000_000_000_000_000_i64..4_000_000_000_000_000
}

/// A row of [`scalar_types`], each value NULL at times.
pub(crate) fn scalar_row() -> impl Strategy<Value = Vec<Value>> {
    let numbers = (
        any::<bool>(),
        any::<i8>(),
        any::<i16>(),
        any::<i32>(),
        any::<i64>(),
        any::<f32>(),
        any::<f64>(),
        -9_999_999_999_i64..=9_999_999_999,
        any::<i64>(),
    );
    let others = (
        -700_000..2_900_000_i32,
        0..86_400_000_i32,
        instant(),
        instant(),
        any::<i32>(),
        any::<i64>(),
        prop::collection::vec(any::<u8>(), 1..6),
        any::<u32>(),
    );
    (numbers, others).prop_map(|(n, o)| {
        let values = vec![
            Value::Boolean(n.0),
            Value::TinyInt(n.1),
            Value::SmallInt(n.2),
            Value::Int(n.3),
            Value::BigInt(n.4),
            Value::Float(n.5),
            Value::Double(n.6),
            Value::Decimal(Decimal::new(n.7.into(), 3)),
            Value::Decimal(Decimal::new(i128::from(n.8) * i128::from(n.4), 20)),
            Value::Date(o.0),
            Value::Time(o.1),
            Value::Timestamp(Timestamp::from_micros(o.2).truncate(3)),
            Value::Timestamp(Timestamp::from_parts(o.3, 7 * (o.1 % 100) as u16)),
            Value::TimestampLtz(Timestamp::from_micros(o.3)),
            Value::IntervalYearMonth(o.4),
            Value::IntervalDayTime(o.5),
            Value::Bytes(o.6),
        ];
        let nulls = o.7;
        let fields = values.into_iter().enumerate();
        let null = |index: usize| nulls >> index & 1 == 1;
        fields
            .map(|(index, value)| if null(index) { Value::Null } else { value })
            .collect()
    })
}

//! Values as the conformance data writes them in JSON.

use aquifer_types::{DataType, DataTypes, LogicalType, Row, Timestamp, Value, temporal};
use serde_json::Value as Json;

/// Reads hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok())
        .collect()
}

/// Reads a value of a type; nothing if the JSON has another form.
pub(crate) fn from_json(json: &Json, data_type: &DataType) -> Option<Value> {
    if json.is_null() {
        return Some(Value::Null);
    }
    let int = || json.as_i64();
    Some(match &data_type.logical {
        LogicalType::Char(n) => {
            let mut text = json.as_str()?.to_owned();
            let missing = (*n as usize).saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n(' ', missing));
            Value::String(text)
        }
        LogicalType::VarChar(_) => Value::String(json.as_str()?.to_owned()),
        LogicalType::Boolean => Value::Boolean(json.as_bool()?),
        LogicalType::Binary(n) => {
            let mut bytes = hex(json.as_str()?.strip_prefix("0x")?)?;
            bytes.resize((*n as usize).max(bytes.len()), 0);
            Value::Bytes(bytes)
        }
        LogicalType::VarBinary(_) => Value::Bytes(hex(json.as_str()?.strip_prefix("0x")?)?),
        LogicalType::Decimal { precision, scale } => {
            let text = json
                .as_str()
                .map_or_else(|| json.to_string(), str::to_owned);
            Value::Decimal(
                text.parse::<aquifer_types::Decimal>()
                    .ok()?
                    .fit(*precision, *scale)?,
            )
        }
        LogicalType::TinyInt => Value::TinyInt(int()?.try_into().ok()?),
        LogicalType::SmallInt => Value::SmallInt(int()?.try_into().ok()?),
        LogicalType::Int => Value::Int(int()?.try_into().ok()?),
        LogicalType::BigInt => Value::BigInt(int()?),
        LogicalType::Float => Value::Float(float(json)? as f32),
        LogicalType::Double => Value::Double(float(json)?),
        LogicalType::Date => Value::Date(temporal::parse_date(json.as_str()?)?),
        LogicalType::Time(p) => {
            let millis = temporal::parse_time(json.as_str()?)?;
            let unit = 10_i32.pow(3_u32.saturating_sub((*p).into()));
            Value::Time(millis / unit * unit)
        }
        LogicalType::Timestamp(p) => Value::Timestamp(stamp(json)?.truncate(*p)),
        LogicalType::TimestampLtz(p) => Value::TimestampLtz(stamp(json)?.truncate(*p)),
        LogicalType::IntervalYearMonth => Value::IntervalYearMonth(int()?.try_into().ok()?),
        LogicalType::IntervalDayTime => Value::IntervalDayTime(int()?),
        LogicalType::Array(element) => Value::Array(
            json.as_array()?
                .iter()
                .map(|e| from_json(e, element))
                .collect::<Option<_>>()?,
        ),
        LogicalType::Map(key, value) => Value::Map(pairs(json, key, value)?),
        LogicalType::Multiset(element) => Value::Map(pairs(json, element, &DataTypes::int())?),
        LogicalType::Row(fields) => {
            let parts = json.as_array()?;
            if parts.len() != fields.len() {
                return None;
            }
            let values = parts
                .iter()
                .zip(fields)
                .map(|(part, field)| from_json(part, &field.data_type))
                .collect::<Option<_>>()?;
            Value::from(Row::of(values))
        }
        LogicalType::Null => return None,
    })
}

fn float(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => json.as_f64(),
    }
}

fn stamp(json: &Json) -> Option<Timestamp> {
    temporal::parse_timestamp(json.as_str()?)
}

fn pairs(json: &Json, key: &DataType, value: &DataType) -> Option<Vec<(Value, Value)>> {
    json.as_array()?
        .iter()
        .map(|pair| {
            let [k, v] = pair.as_array()?.as_slice() else {
                return None;
            };
            Some((from_json(k, key)?, from_json(v, value)?))
        })
        .collect()
}

/// Whether two values are the same answer: floats up to rounding, maps in whatever order.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    let close = |x: f64, y: f64| {
        x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
    };
    match (a, b) {
        (Value::Double(x), Value::Double(y)) => close(*x, *y),
        (Value::Float(x), Value::Float(y)) => {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-6 * x.abs()
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Map(x), Value::Map(y)) => {
            x.len() == y.len()
                && x.iter()
                    .all(|(k, v)| y.iter().any(|(l, w)| same(k, l) && same(v, w)))
        }
        _ => a == b,
    }
}

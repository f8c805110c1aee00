//! Cells of a batch as text: the writing side of text formats.
//!
//! The type of a column is looked at once per batch; a cell is written without an allocation.

use std::io::Write as _;

use aquifer_runtime::RuntimeError;
use aquifer_types::temporal::{MICROS_PER_DAY, civil_from_days};
use aquifer_types::{ChangeBatch, DataType, Decimal, LogicalType, format_double, format_float};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrowPrimitiveType, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
};

use crate::base64;

/// The cells of one column.
pub(crate) struct Cells<'a> {
    array: &'a dyn Array,
    pub(crate) kind: CellKind<'a>,
}

/// The cells by kind of column.
pub(crate) enum CellKind<'a> {
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    String(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time32MillisecondType>),
    Micros(&'a PrimitiveArray<TimestampMicrosecondType>, Zone),
    Nanos(&'a PrimitiveArray<TimestampNanosecondType>, Zone),
    Months(&'a PrimitiveArray<IntervalYearMonthType>),
    Millis(&'a PrimitiveArray<DurationMillisecondType>),
    List {
        offsets: &'a [i32],
        element: Box<Cells<'a>>,
    },
    Map {
        offsets: &'a [i32],
        key: Box<Cells<'a>>,
        value: Box<Cells<'a>>,
    },
    Struct(Vec<Cells<'a>>),
    Null,
}

/// Whether a timestamp is an instant, which is written with a `Z`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    None,
    Utc,
}

/// What stands between date and time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimestampStyle {
    /// `2020-01-31 10:20:30`.
    Sql,
    /// `2020-01-31T10:20:30`.
    Iso,
}

impl<'a> Cells<'a> {
    /// The cells of `array`, which has the Arrow form of `data_type`.
    pub(crate) fn new(array: &'a dyn Array, data_type: &DataType) -> Self {
        let kind = match &data_type.logical {
            LogicalType::Boolean => CellKind::Boolean(array.as_boolean()),
            LogicalType::TinyInt => CellKind::TinyInt(primitive(array)),
            LogicalType::SmallInt => CellKind::SmallInt(primitive(array)),
            LogicalType::Int => CellKind::Int(primitive(array)),
            LogicalType::BigInt => CellKind::BigInt(primitive(array)),
            LogicalType::Float => CellKind::Float(primitive(array)),
            LogicalType::Double => CellKind::Double(primitive(array)),
            LogicalType::Decimal { scale, .. } => CellKind::Decimal(primitive(array), *scale),
            LogicalType::Char(_) | LogicalType::VarChar(_) => CellKind::String(array.as_string()),
            LogicalType::Binary(_) | LogicalType::VarBinary(_) => {
                CellKind::Bytes(array.as_binary())
            }
            LogicalType::Date => CellKind::Date(primitive(array)),
            LogicalType::Time(_) => CellKind::Time(primitive(array)),
            LogicalType::Timestamp(precision) if *precision <= 6 => {
                CellKind::Micros(primitive(array), Zone::None)
            }
            LogicalType::Timestamp(_) => CellKind::Nanos(primitive(array), Zone::None),
            LogicalType::TimestampLtz(precision) if *precision <= 6 => {
                CellKind::Micros(primitive(array), Zone::Utc)
            }
            LogicalType::TimestampLtz(_) => CellKind::Nanos(primitive(array), Zone::Utc),
            LogicalType::IntervalYearMonth => CellKind::Months(primitive(array)),
            LogicalType::IntervalDayTime => CellKind::Millis(primitive(array)),
            LogicalType::Array(element) => {
                let list = array.as_list::<i32>();
                CellKind::List {
                    offsets: list.value_offsets(),
                    element: Box::new(Cells::new(list.values(), element)),
                }
            }
            LogicalType::Map(key, value) => map(array, key, value),
            LogicalType::Multiset(element) => map(array, element, &DataType::new(LogicalType::Int)),
            LogicalType::Row(fields) => {
                let columns = array.as_struct().columns().iter();
                let cells = columns.zip(fields);
                CellKind::Struct(cells.map(|(c, f)| Cells::new(c, &f.data_type)).collect())
            }
            LogicalType::Null => CellKind::Null,
        };
        Cells { array, kind }
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        matches!(self.kind, CellKind::Null) || self.array.is_null(row)
    }

    /// Whether the text of a cell is a JSON literal by itself.
    pub(crate) fn is_number_or_boolean(&self) -> bool {
        matches!(
            self.kind,
            CellKind::Boolean(_)
                | CellKind::TinyInt(_)
                | CellKind::SmallInt(_)
                | CellKind::Int(_)
                | CellKind::BigInt(_)
                | CellKind::Float(_)
                | CellKind::Double(_)
                | CellKind::Decimal(..)
                | CellKind::Months(_)
                | CellKind::Millis(_)
        )
    }

    /// Appends the text of a cell that is not NULL and not nested.
    pub(crate) fn write_scalar(&self, row: usize, style: TimestampStyle, out: &mut Vec<u8>) {
        match &self.kind {
            CellKind::Boolean(a) => {
                out.extend_from_slice(if a.value(row) { b"true" } else { b"false" });
            }
            CellKind::TinyInt(a) => write_i64(a.value(row).into(), out),
            CellKind::SmallInt(a) => write_i64(a.value(row).into(), out),
            CellKind::Int(a) => write_i64(a.value(row).into(), out),
            CellKind::BigInt(a) => write_i64(a.value(row), out),
            CellKind::Float(a) => write_f32(a.value(row), out),
            CellKind::Double(a) => write_f64(a.value(row), out),
            CellKind::Decimal(a, scale) => write_decimal(a.value(row), *scale, out),
            CellKind::String(a) => out.extend_from_slice(a.value(row).as_bytes()),
            CellKind::Bytes(a) => base64::encode(a.value(row), out),
            CellKind::Date(a) => write_date(a.value(row).into(), out),
            CellKind::Time(a) => {
                let millis = i64::from(a.value(row));
                write_time(millis * 1_000_000, out);
            }
            CellKind::Micros(a, zone) => {
                let micros = a.value(row);
                write_timestamp(micros, 0, *zone, style, out);
            }
            CellKind::Nanos(a, zone) => {
                let nanos = a.value(row);
                write_timestamp(
                    nanos.div_euclid(1000),
                    nanos.rem_euclid(1000),
                    *zone,
                    style,
                    out,
                );
            }
            CellKind::Months(a) => write_i64(a.value(row).into(), out),
            CellKind::Millis(a) => write_i64(a.value(row), out),
            CellKind::List { .. } | CellKind::Map { .. } | CellKind::Struct(_) | CellKind::Null => {
            }
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> &PrimitiveArray<T> {
    array.as_primitive()
}

fn map<'a>(array: &'a dyn Array, key: &DataType, value: &DataType) -> CellKind<'a> {
    let map = array.as_map();
    CellKind::Map {
        offsets: map.value_offsets(),
        key: Box::new(Cells::new(map.keys(), key)),
        value: Box::new(Cells::new(map.values(), value)),
    }
}

/// Refuses rows that are taken back: a record cannot say so.
pub(crate) fn require_insertions(batch: &ChangeBatch) -> aquifer_table_common::Result<()> {
    if batch.is_append_only() {
        return Ok(());
    }
    let message = "a row that is taken back reached a format that holds insertions only";
    Err(RuntimeError::internal(message).into())
}

/// The range of elements of a list.
pub(crate) fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |index: usize| usize::try_from(offsets[index]).expect("offsets are not negative");
    at(row)..at(row + 1)
}

fn write_i64(value: i64, out: &mut Vec<u8>) {
    let _ = write!(out, "{value}");
}

/// Java's text of a double.
fn write_f64(value: f64, out: &mut Vec<u8>) {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        let _ = write!(out, "{value:?}");
    } else {
        out.extend_from_slice(format_double(value).as_bytes());
    }
}

fn write_f32(value: f32, out: &mut Vec<u8>) {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        let _ = write!(out, "{value:?}");
    } else {
        out.extend_from_slice(format_float(value).as_bytes());
    }
}

fn write_decimal(unscaled: i128, scale: u8, out: &mut Vec<u8>) {
    let _ = match (u32::from(scale), u64::try_from(unscaled.unsigned_abs())) {
        (0, _) => write!(out, "{unscaled}"),
        (digits @ 1..=18, Ok(number)) => {
            let sign = if unscaled < 0 { "-" } else { "" };
            let unit = 10_u64.pow(digits);
            let width = digits as usize;
            write!(out, "{sign}{}.{:0width$}", number / unit, number % unit)
        }
        _ => write!(out, "{}", Decimal::new(unscaled, scale)),
    };
}

fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(days);
    let sign = if year < 0 { "-" } else { "" };
    let _ = write!(out, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
}

/// Hours, minutes, seconds and as many digits of the fraction as it has.
fn write_time(nanos: i64, out: &mut Vec<u8>) {
    let seconds = nanos / 1_000_000_000;
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let mut fraction = nanos % 1_000_000_000;
    if fraction != 0 {
        let mut digits = 9;
        while fraction % 10 == 0 {
            fraction /= 10;
            digits -= 1;
        }
        let _ = write!(out, ".{fraction:0digits$}");
    }
}

fn write_timestamp(micros: i64, nanos: i64, zone: Zone, style: TimestampStyle, out: &mut Vec<u8>) {
    write_date(micros.div_euclid(MICROS_PER_DAY), out);
    out.push(match style {
        TimestampStyle::Sql => b' ',
        TimestampStyle::Iso => b'T',
    });
    write_time(micros.rem_euclid(MICROS_PER_DAY) * 1000 + nanos, out);
    if zone == Zone::Utc {
        out.push(b'Z');
    }
}

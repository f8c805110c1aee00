//! Constructors for types, named as in Flink's `DataTypes`.

use super::{DataType, Field, LogicalType, MAX_LENGTH};

/// Constructors of [`DataType`]; every type starts nullable.
///
/// ```
/// use aquifer_types::DataTypes;
/// let t = DataTypes::row([DataTypes::field("id", DataTypes::decimal(10, 2).not_null())]);
/// assert_eq!(t.to_string(), "ROW<`id` DECIMAL(10, 2) NOT NULL>");
/// ```
#[derive(Debug)]
pub struct DataTypes;

impl DataTypes {
    /// CHAR(n).
    #[must_use]
    pub fn char(length: u32) -> DataType {
        LogicalType::Char(length).into()
    }
    /// VARCHAR(n).
    #[must_use]
    pub fn varchar(length: u32) -> DataType {
        LogicalType::VarChar(length).into()
    }
    /// STRING, which is VARCHAR(2147483647).
    #[must_use]
    pub fn string() -> DataType {
        LogicalType::VarChar(MAX_LENGTH).into()
    }
    /// BOOLEAN.
    #[must_use]
    pub fn boolean() -> DataType {
        LogicalType::Boolean.into()
    }
    /// BINARY(n).
    #[must_use]
    pub fn binary(length: u32) -> DataType {
        LogicalType::Binary(length).into()
    }
    /// VARBINARY(n).
    #[must_use]
    pub fn varbinary(length: u32) -> DataType {
        LogicalType::VarBinary(length).into()
    }
    /// BYTES, which is VARBINARY(2147483647).
    #[must_use]
    pub fn bytes() -> DataType {
        LogicalType::VarBinary(MAX_LENGTH).into()
    }
    /// DECIMAL(p, s).
    #[must_use]
    pub fn decimal(precision: u8, scale: u8) -> DataType {
        LogicalType::Decimal { precision, scale }.into()
    }
    /// TINYINT.
    #[must_use]
    pub fn tinyint() -> DataType {
        LogicalType::TinyInt.into()
    }
    /// SMALLINT.
    #[must_use]
    pub fn smallint() -> DataType {
        LogicalType::SmallInt.into()
    }
    /// INT.
    #[must_use]
    pub fn int() -> DataType {
        LogicalType::Int.into()
    }
    /// BIGINT.
    #[must_use]
    pub fn bigint() -> DataType {
        LogicalType::BigInt.into()
    }
    /// FLOAT.
    #[must_use]
    pub fn float() -> DataType {
        LogicalType::Float.into()
    }
    /// DOUBLE.
    #[must_use]
    pub fn double() -> DataType {
        LogicalType::Double.into()
    }
    /// DATE.
    #[must_use]
    pub fn date() -> DataType {
        LogicalType::Date.into()
    }
    /// TIME(p).
    #[must_use]
    pub fn time(precision: u8) -> DataType {
        LogicalType::Time(precision).into()
    }
    /// TIMESTAMP(p).
    #[must_use]
    pub fn timestamp(precision: u8) -> DataType {
        LogicalType::Timestamp(precision).into()
    }
    /// TIMESTAMP_LTZ(p).
    #[must_use]
    pub fn timestamp_ltz(precision: u8) -> DataType {
        LogicalType::TimestampLtz(precision).into()
    }
    /// INTERVAL MONTH: a number of months.
    #[must_use]
    pub fn interval_year_month() -> DataType {
        LogicalType::IntervalYearMonth.into()
    }
    /// INTERVAL SECOND(3): a number of milliseconds.
    #[must_use]
    pub fn interval_day_time() -> DataType {
        LogicalType::IntervalDayTime.into()
    }
    /// ARRAY.
    #[must_use]
    pub fn array(element: DataType) -> DataType {
        LogicalType::Array(Box::new(element)).into()
    }
    /// MAP.
    #[must_use]
    pub fn map(key: DataType, value: DataType) -> DataType {
        LogicalType::Map(Box::new(key), Box::new(value)).into()
    }
    /// MULTISET.
    #[must_use]
    pub fn multiset(element: DataType) -> DataType {
        LogicalType::Multiset(Box::new(element)).into()
    }
    /// ROW of named fields.
    #[must_use]
    pub fn row(fields: impl IntoIterator<Item = Field>) -> DataType {
        LogicalType::Row(fields.into_iter().collect()).into()
    }
    /// A field of a ROW.
    pub fn field(name: impl Into<String>, data_type: DataType) -> Field {
        Field::new(name, data_type)
    }
    /// ROW of unnamed fields, which get the names `f0`, `f1` and so on.
    #[must_use]
    pub fn row_of(types: impl IntoIterator<Item = DataType>) -> DataType {
        Self::row(
            types
                .into_iter()
                .enumerate()
                .map(|(i, t)| Field::new(format!("f{i}"), t)),
        )
    }
    /// NULL: the type of a bare NULL literal.
    #[must_use]
    pub fn null() -> DataType {
        LogicalType::Null.into()
    }
}

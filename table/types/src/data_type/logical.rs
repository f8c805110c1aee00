//! The type tree itself.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The largest length of CHAR, VARCHAR, BINARY and VARBINARY; VARCHAR of it is STRING.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

/// The largest precision of DECIMAL.
pub const MAX_PRECISION_DECIMAL: u8 = 38;

/// A logical type together with its nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    /// The kind of values.
    pub logical: LogicalType,
    /// Whether NULL is a value of the type.
    pub nullable: bool,
}

/// A kind of values, without nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogicalType {
    /// Text of exactly this many characters, padded with blanks.
    Char(u32),
    /// Text of at most this many characters; STRING is the one of [`MAX_LENGTH`].
    VarChar(u32),
    /// TRUE or FALSE.
    Boolean,
    /// Exactly this many bytes.
    Binary(u32),
    /// At most this many bytes; BYTES is the one of [`MAX_LENGTH`].
    VarBinary(u32),
    /// Exact decimal number.
    Decimal {
        /// Number of digits, 1 to 38.
        precision: u8,
        /// Number of digits after the point, 0 to the precision.
        scale: u8,
    },
    /// 8-bit integer.
    TinyInt,
    /// 16-bit integer.
    SmallInt,
    /// 32-bit integer.
    Int,
    /// 64-bit integer.
    BigInt,
    /// 32-bit floating point number.
    Float,
    /// 64-bit floating point number.
    Double,
    /// Days since 1970-01-01.
    Date,
    /// Time of day with this many fractional digits (kept to the millisecond).
    Time(u8),
    /// Date and time of day without zone, with this many fractional digits.
    Timestamp(u8),
    /// Instant, shown in the session's time zone.
    TimestampLtz(u8),
    /// Number of months.
    IntervalYearMonth,
    /// Number of milliseconds.
    IntervalDayTime,
    /// List of elements of one type.
    Array(Box<DataType>),
    /// Keys to values; a key occurs once.
    Map(Box<DataType>, Box<DataType>),
    /// Elements with how often they occur.
    Multiset(Box<DataType>),
    /// Named fields.
    Row(Vec<Field>),
    /// The type of a bare NULL.
    Null,
}

/// A named part of a ROW type, or a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The name, case preserved.
    pub name: String,
    /// The type with nullability.
    pub data_type: DataType,
}

impl Field {
    /// Makes a field.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            name: name.into(),
            data_type,
        }
    }
}

impl From<LogicalType> for DataType {
    fn from(logical: LogicalType) -> Self {
        Self::new(logical)
    }
}

impl DataType {
    /// Makes the nullable form of a logical type.
    #[must_use]
    pub fn new(logical: LogicalType) -> Self {
        Self {
            logical,
            nullable: true,
        }
    }

    /// Returns this type without NULL.
    #[must_use]
    pub fn not_null(self) -> Self {
        Self {
            nullable: false,
            ..self
        }
    }

    /// Returns this type with NULL.
    #[must_use]
    pub fn null(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }

    /// Returns this type with the given nullability.
    #[must_use]
    pub fn with_nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }

    /// Returns whether both are the same kind of values, whatever their outer nullability.
    #[must_use]
    pub fn same_kind(&self, other: &Self) -> bool {
        self.logical == other.logical
    }

    /// Returns the fields of a ROW, or nothing for any other type.
    #[must_use]
    pub fn fields(&self) -> Option<&[Field]> {
        match &self.logical {
            LogicalType::Row(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns whether the type is CHAR or VARCHAR.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.logical.is_string()
    }

    /// Returns whether the type is a number (integer, decimal or floating point).
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.logical.is_numeric()
    }
}

impl LogicalType {
    /// Returns whether this is CHAR or VARCHAR.
    #[must_use]
    pub fn is_string(&self) -> bool {
        matches!(self, Self::Char(_) | Self::VarChar(_))
    }

    /// Returns whether this is BINARY or VARBINARY.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::VarBinary(_))
    }

    /// Returns whether this is TINYINT, SMALLINT, INT or BIGINT.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(
            self,
            Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt
        )
    }

    /// Returns whether this is DECIMAL.
    #[must_use]
    pub fn is_decimal(&self) -> bool {
        matches!(self, Self::Decimal { .. })
    }

    /// Returns whether this is FLOAT or DOUBLE.
    #[must_use]
    pub fn is_approximate(&self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// Returns whether this is a number.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || self.is_decimal() || self.is_approximate()
    }

    /// Returns whether this is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ.
    #[must_use]
    pub fn is_datetime(&self) -> bool {
        matches!(self, Self::Date | Self::Time(_)) || self.is_timestamp()
    }

    /// Returns whether this is TIMESTAMP or TIMESTAMP_LTZ.
    #[must_use]
    pub fn is_timestamp(&self) -> bool {
        matches!(self, Self::Timestamp(_) | Self::TimestampLtz(_))
    }

    /// Returns whether this is an INTERVAL.
    #[must_use]
    pub fn is_interval(&self) -> bool {
        matches!(self, Self::IntervalYearMonth | Self::IntervalDayTime)
    }

    /// Returns whether values of this type contain other values.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        matches!(
            self,
            Self::Array(_) | Self::Map(..) | Self::Multiset(_) | Self::Row(_)
        )
    }

    /// Returns whether values of this type have an order, so that `<`, MIN and ORDER BY work.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        !self.is_nested() && !matches!(self, Self::Null)
    }
}

impl Serialize for DataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

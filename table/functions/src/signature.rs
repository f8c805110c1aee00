//! Which arguments a function takes, to which types they are brought, and what it returns.
//!
//! A [`Signature`] is data, so that it can be checked, printed in errors and listed in the
//! reference. Functions whose rule does not fit this form infer by a function of their own.

use std::fmt;

use aquifer_types::{DataType, LogicalType, Value, find_common_type};

/// An argument as inference sees it.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    /// Its type.
    pub data_type: &'a DataType,
    /// Its value, if it is a literal.
    pub literal: Option<&'a Value>,
}

impl Argument<'_> {
    /// Returns the text of a string literal.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.literal.and_then(Value::as_str)
    }
}

/// What inference finds: the types to cast the arguments to, and the type of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// One type per argument.
    pub arguments: Vec<DataType>,
    /// The result's type.
    pub result: DataType,
}

/// A kind of argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Anything, as it is.
    Any,
    /// CHAR or VARCHAR.
    Text,
    /// BINARY or VARBINARY.
    Binary,
    /// BOOLEAN.
    Boolean,
    /// TINYINT to INT, taken as INT.
    Int,
    /// TINYINT to BIGINT, taken as BIGINT.
    BigInt,
    /// Any number, as it is.
    Numeric,
    /// FLOAT or DOUBLE, as it is.
    Approximate,
    /// DECIMAL, or an integer taken as one.
    Decimal,
    /// Any number, taken as DOUBLE.
    Double,
    /// DATE.
    Date,
    /// TIME.
    Time,
    /// TIMESTAMP; DATE and text are not taken.
    Timestamp,
    /// TIMESTAMP_LTZ.
    TimestampLtz,
    /// INTERVAL YEAR TO MONTH.
    Months,
    /// INTERVAL DAY TO SECOND.
    Millis,
    /// ARRAY.
    Array,
    /// MAP.
    Map,
    /// The text of a literal word, such as a time unit.
    Symbol,
}

impl Kind {
    /// Returns the type to which an argument is brought; nothing if it is not taken.
    #[must_use]
    pub fn accept(self, argument: &Argument<'_>) -> Option<DataType> {
        use LogicalType as T;
        let found = &argument.data_type.logical;
        let accepted = match (self, found) {
            (Self::Any, other) => other.clone(),
            (Self::Symbol, _) => {
                argument.text()?;
                found.clone()
            }
            (Self::Text, T::Char(_) | T::VarChar(_))
            | (Self::Binary, T::Binary(_) | T::VarBinary(_))
            | (Self::Boolean, T::Boolean)
            | (Self::Date, T::Date)
            | (Self::Time, T::Time(_))
            | (Self::Timestamp, T::Timestamp(_))
            | (Self::TimestampLtz, T::TimestampLtz(_))
            | (Self::Months, T::IntervalYearMonth)
            | (Self::Millis, T::IntervalDayTime)
            | (Self::Array, T::Array(_))
            | (Self::Map, T::Map(..))
            | (Self::Decimal, T::Decimal { .. })
            | (Self::Approximate, T::Float | T::Double) => found.clone(),
            (Self::Numeric, other) if other.is_numeric() => other.clone(),
            (Self::Int, T::TinyInt | T::SmallInt | T::Int) => T::Int,
            (Self::BigInt, other) if other.is_integer() => T::BigInt,
            (Self::Double, other) if other.is_numeric() => T::Double,
            (Self::Decimal, other) => {
                let (precision, scale) = aquifer_types::decimal::integer_as_decimal(other)?;
                T::Decimal { precision, scale }
            }
            (kind, T::Null) => kind.of_null()?,
            _ => return None,
        };
        Some(DataType {
            logical: accepted,
            nullable: argument.data_type.nullable,
        })
    }

    /// The type that a bare NULL gets.
    fn of_null(self) -> Option<LogicalType> {
        use LogicalType as T;
        Some(match self {
            Self::Any => T::Null,
            Self::Text => T::VarChar(aquifer_types::data_type::MAX_LENGTH),
            Self::Binary => T::VarBinary(aquifer_types::data_type::MAX_LENGTH),
            Self::Boolean => T::Boolean,
            Self::Int | Self::Numeric => T::Int,
            Self::BigInt => T::BigInt,
            Self::Decimal => T::Decimal {
                precision: 10,
                scale: 0,
            },
            Self::Double | Self::Approximate => T::Double,
            Self::Date => T::Date,
            Self::Time => T::Time(0),
            Self::Timestamp => T::Timestamp(3),
            Self::TimestampLtz => T::TimestampLtz(3),
            Self::Months => T::IntervalYearMonth,
            Self::Millis => T::IntervalDayTime,
            Self::Array | Self::Map | Self::Symbol => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "<ANY>",
            Self::Text => "<CHARACTER_STRING>",
            Self::Binary => "<BINARY_STRING>",
            Self::Boolean => "BOOLEAN",
            Self::Int => "INT",
            Self::BigInt => "BIGINT",
            Self::Numeric => "<NUMERIC>",
            Self::Approximate => "<APPROXIMATE_NUMERIC>",
            Self::Decimal => "<EXACT_NUMERIC>",
            Self::Double => "DOUBLE",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Timestamp => "TIMESTAMP",
            Self::TimestampLtz => "TIMESTAMP_LTZ",
            Self::Months => "INTERVAL YEAR TO MONTH",
            Self::Millis => "INTERVAL DAY TO SECOND",
            Self::Array => "<ARRAY>",
            Self::Map => "<MAP>",
            Self::Symbol => "<SYMBOL>",
        })
    }
}

/// What a function returns.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// BOOLEAN.
    Boolean,
    /// INT.
    Int,
    /// BIGINT.
    BigInt,
    /// DOUBLE.
    Double,
    /// DATE.
    Date,
    /// TIMESTAMP of a precision.
    Timestamp(u8),
    /// TIMESTAMP_LTZ of a precision.
    TimestampLtz(u8),
    /// The type of the argument at this position, after it was brought to its kind.
    Argument(usize),
    /// STRING.
    String,
    /// BYTES.
    Bytes,
    /// What a function of the arguments' types says.
    With(fn(&[DataType]) -> Option<LogicalType>),
}

/// One list of arguments that a function takes.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// The arguments that must be there.
    pub arguments: &'static [Kind],
    /// The kind of any number of further arguments.
    pub variadic: Option<Kind>,
    /// What is returned.
    pub returns: Returns,
}

impl Signature {
    /// Makes a signature of a fixed number of arguments.
    #[must_use]
    pub const fn new(arguments: &'static [Kind], returns: Returns) -> Self {
        Self {
            arguments,
            variadic: None,
            returns,
        }
    }

    /// Makes a signature with any number of further arguments.
    #[must_use]
    pub const fn variadic(arguments: &'static [Kind], rest: Kind, returns: Returns) -> Self {
        Self {
            arguments,
            variadic: Some(rest),
            returns,
        }
    }

    /// Returns the types if the arguments fit.
    #[must_use]
    pub fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        let fixed = self.arguments.len();
        if arguments.len() < fixed || (arguments.len() > fixed && self.variadic.is_none()) {
            return None;
        }
        let kinds = self.arguments.iter().copied().chain(std::iter::repeat_n(
            self.variadic.unwrap_or(Kind::Any),
            arguments.len() - fixed,
        ));
        let types: Vec<DataType> = arguments
            .iter()
            .zip(kinds)
            .map(|(a, kind)| kind.accept(a))
            .collect::<Option<_>>()?;
        let max = aquifer_types::data_type::MAX_LENGTH;
        let logical = match &self.returns {
            Returns::Boolean => LogicalType::Boolean,
            Returns::Int => LogicalType::Int,
            Returns::BigInt => LogicalType::BigInt,
            Returns::Double => LogicalType::Double,
            Returns::Date => LogicalType::Date,
            Returns::Timestamp(precision) => LogicalType::Timestamp(*precision),
            Returns::TimestampLtz(precision) => LogicalType::TimestampLtz(*precision),
            Returns::Argument(position) => types.get(*position)?.logical.clone(),
            Returns::String => LogicalType::VarChar(max),
            Returns::Bytes => LogicalType::VarBinary(max),
            Returns::With(function) => function(&types)?,
        };
        let nullable = types.iter().any(|t| t.nullable);
        Some(Inferred {
            arguments: types,
            result: DataType { logical, nullable },
        })
    }

    /// Prints the signature behind a function's name.
    #[must_use]
    pub fn describe(&self, name: &str) -> String {
        let mut arguments: Vec<String> = self.arguments.iter().map(Kind::to_string).collect();
        if let Some(kind) = self.variadic {
            arguments.push(format!("{kind}..."));
        }
        format!("{name}({})", arguments.join(", "))
    }
}

/// Brings all arguments to their common type.
#[must_use]
pub fn common(arguments: &[Argument<'_>]) -> Option<DataType> {
    let types: Vec<DataType> = arguments.iter().map(|a| a.data_type.clone()).collect();
    find_common_type(&types)
}

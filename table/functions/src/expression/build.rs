//! Constructors that infer types and insert implicit casts.

use aquifer_types::{
    DataType, DataTypes, LogicalType, Value, data_type::MAX_LENGTH, find_common_type,
    supports_explicit_cast,
};

use super::ResolvedExpr;
use crate::definition::infer_call;
use crate::error::{FunctionError, Result};
use crate::scalar::find_function;
use crate::signature::Argument;

impl ResolvedExpr {
    /// Makes a literal of a given type.
    #[must_use]
    pub fn typed_literal(value: Value, data_type: DataType) -> Self {
        Self::Literal { value, data_type }
    }

    /// Makes a literal of the type that SQL gives to such a value.
    #[must_use]
    pub fn literal(value: impl Into<Value>) -> Self {
        let value = value.into();
        let data_type = literal_type(&value);
        Self::Literal { value, data_type }
    }

    /// Makes a bare NULL.
    #[must_use]
    pub fn null() -> Self {
        Self::Literal {
            value: Value::Null,
            data_type: DataTypes::null(),
        }
    }

    /// Makes a NULL of a type.
    #[must_use]
    pub fn null_of(data_type: DataType) -> Self {
        Self::Literal {
            value: Value::Null,
            data_type: data_type.null(),
        }
    }

    /// Makes a reference to a column.
    #[must_use]
    pub fn input(index: usize, data_type: DataType) -> Self {
        Self::InputRef { index, data_type }
    }

    /// Makes a call of a function by name, which any case may be written in.
    ///
    /// # Errors
    /// `function.unknown`, `function.invalid_arguments`, `function.unsupported_cast`.
    pub fn call(name: &str, args: impl IntoIterator<Item = Self>) -> Result<Self> {
        let function = find_function(name)?;
        let args: Vec<Self> = args.into_iter().collect();
        let arguments: Vec<Argument<'_>> = args
            .iter()
            .map(|a| Argument {
                data_type: a.data_type(),
                literal: a.as_literal(),
            })
            .collect();
        let inferred = infer_call(function, &arguments)?;
        let args = args
            .into_iter()
            .zip(&inferred.arguments)
            .map(|(arg, data_type)| arg.implicit_cast(data_type))
            .collect::<Result<_>>()?;
        Ok(Self::Call {
            function: function.name().to_owned(),
            args,
            data_type: inferred.result,
        })
    }

    /// Brings the expression to a type, keeping its own nullability.
    fn implicit_cast(self, to: &DataType) -> Result<Self> {
        if self.data_type().logical == to.logical {
            return Ok(self);
        }
        let nullable = self.data_type().nullable;
        if let Self::Literal {
            value: Value::Null, ..
        } = self
        {
            return Ok(Self::null_of(to.clone()));
        }
        // Text that nobody asked to convert must not fail a job: what is no value becomes NULL.
        let is_text = self.data_type().is_string() && !to.is_string();
        self.make_cast(to.clone().with_nullable(nullable), is_text)
    }

    /// Makes a cast; the result is nullable if the expression is.
    ///
    /// # Errors
    /// `function.unsupported_cast`.
    pub fn cast(self, to: DataType) -> Result<Self> {
        self.make_cast(to, false)
    }

    /// Makes a cast that gives NULL for values that cannot be converted.
    ///
    /// # Errors
    /// `function.unsupported_cast`.
    pub fn try_cast(self, to: DataType) -> Result<Self> {
        self.make_cast(to, true)
    }

    fn make_cast(self, to: DataType, try_: bool) -> Result<Self> {
        let from = self.data_type();
        let data_type = to.with_nullable(from.nullable || try_);
        if !supports_explicit_cast(from, &data_type) {
            return Err(FunctionError::UnsupportedCast {
                from: from.to_string(),
                to: data_type.to_string(),
            });
        }
        Ok(Self::Cast {
            expr: Box::new(self),
            data_type,
            try_,
        })
    }

    /// Makes a CASE; without `otherwise` it is NULL. Results are brought to their common type.
    ///
    /// # Errors
    /// `function.no_common_type` for results without one, `function.invalid_arguments` for a
    /// condition that is not BOOLEAN.
    pub fn case(branches: Vec<(Self, Self)>, otherwise: Option<Self>) -> Result<Self> {
        let otherwise = otherwise.unwrap_or_else(Self::null);
        let types: Vec<DataType> = branches
            .iter()
            .map(|(_, result)| result)
            .chain([&otherwise])
            .map(|e| e.data_type().clone())
            .collect();
        let data_type = find_common_type(&types).ok_or_else(|| FunctionError::NoCommonType {
            what: "results of CASE",
            types: join_types(&types),
        })?;
        let branches = branches
            .into_iter()
            .map(|(condition, result)| {
                Ok((
                    condition.into_condition()?,
                    result.implicit_cast(&data_type)?,
                ))
            })
            .collect::<Result<_>>()?;
        let otherwise = Box::new(otherwise.implicit_cast(&data_type)?);
        Ok(Self::Case {
            branches,
            otherwise,
            data_type,
        })
    }

    fn into_condition(self) -> Result<Self> {
        match self.data_type().logical {
            LogicalType::Boolean => Ok(self),
            LogicalType::Null => Ok(Self::null_of(DataTypes::boolean())),
            _ => Err(FunctionError::InvalidArguments {
                function: "CASE".to_owned(),
                arguments: self.data_type().to_string(),
                signatures: vec!["CASE WHEN BOOLEAN THEN <ANY> ... END".to_owned()],
            }),
        }
    }

    /// Joins conditions with AND; none give TRUE.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn and(conditions: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut conditions = conditions.into_iter();
        let Some(first) = conditions.next() else {
            return Ok(Self::literal(true));
        };
        conditions.try_fold(first, |all, next| Self::call("AND", [all, next]))
    }

    /// Joins conditions with OR; none give FALSE.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn or(conditions: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut conditions = conditions.into_iter();
        let Some(first) = conditions.next() else {
            return Ok(Self::literal(false));
        };
        conditions.try_fold(first, |all, next| Self::call("OR", [all, next]))
    }
}

pub(crate) fn join_types(types: &[DataType]) -> String {
    types
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The type that SQL gives to a literal.
fn literal_type(value: &Value) -> DataType {
    let logical = match value {
        Value::Null => return DataTypes::null(),
        Value::Boolean(_) => LogicalType::Boolean,
        Value::TinyInt(_) => LogicalType::TinyInt,
        Value::SmallInt(_) => LogicalType::SmallInt,
        Value::Int(_) => LogicalType::Int,
        Value::BigInt(_) => LogicalType::BigInt,
        Value::Float(_) => LogicalType::Float,
        Value::Double(_) => LogicalType::Double,
        Value::Decimal(v) => LogicalType::Decimal {
            precision: v.precision(),
            scale: v.scale(),
        },
        // Text of no characters has no CHAR type: the shortest length is one.
        Value::String(v) => match u32::try_from(v.chars().count()) {
            Ok(length @ 1..=MAX_LENGTH) => LogicalType::Char(length),
            _ => LogicalType::VarChar(MAX_LENGTH),
        },
        Value::Bytes(v) => match u32::try_from(v.len()) {
            Ok(length @ 1..=MAX_LENGTH) => LogicalType::Binary(length),
            _ => LogicalType::VarBinary(MAX_LENGTH),
        },
        Value::Date(_) => LogicalType::Date,
        Value::Time(v) => LogicalType::Time(if v % 1000 == 0 { 0 } else { 3 }),
        Value::Timestamp(v) => LogicalType::Timestamp(fraction_digits(*v)),
        Value::TimestampLtz(v) => LogicalType::TimestampLtz(fraction_digits(*v)),
        Value::IntervalYearMonth(_) => LogicalType::IntervalYearMonth,
        Value::IntervalDayTime(_) => LogicalType::IntervalDayTime,
        Value::Array(elements) => {
            let types: Vec<DataType> = elements.iter().map(literal_type).collect();
            LogicalType::Array(Box::new(
                find_common_type(&types).unwrap_or_else(DataTypes::null),
            ))
        }
        Value::Map(entries) => {
            let keys: Vec<DataType> = entries.iter().map(|(k, _)| literal_type(k)).collect();
            let values: Vec<DataType> = entries.iter().map(|(_, v)| literal_type(v)).collect();
            LogicalType::Map(
                Box::new(find_common_type(&keys).unwrap_or_else(DataTypes::null)),
                Box::new(find_common_type(&values).unwrap_or_else(DataTypes::null)),
            )
        }
        Value::Row(row) => {
            return DataTypes::row_of(row.fields().iter().map(literal_type)).not_null();
        }
    };
    DataType::new(logical).not_null()
}

fn fraction_digits(timestamp: aquifer_types::Timestamp) -> u8 {
    (0..9)
        .find(|p| timestamp.truncate(*p) == timestamp)
        .unwrap_or(9)
}

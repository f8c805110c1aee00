//! The types of aggregate calls.

use aquifer_functions::FunctionError;
use aquifer_types::{DataType, DataTypes, LogicalType};

/// An aggregate call with its types.
pub(crate) struct AggregateTypes {
    pub(crate) function: String,
    pub(crate) arguments: Vec<DataType>,
    pub(crate) result: DataType,
    pub(crate) is_null_when_empty: bool,
}

pub(crate) fn find_aggregate(name: &str) -> bool {
    ["COUNT", "SUM", "MIN", "MAX", "AVG"].contains(&name)
}

pub(crate) fn infer_aggregate(
    name: &str,
    arguments: &[DataType],
) -> Result<AggregateTypes, FunctionError> {
    let result = match (name, arguments) {
        ("COUNT", _) => Some(DataTypes::bigint().not_null()),
        ("MIN" | "MAX", [one]) => Some(one.clone()),
        ("SUM" | "AVG", [one]) if one.is_numeric() => Some(match &one.logical {
            LogicalType::Decimal { scale, .. } => {
                DataTypes::decimal(38, *scale).with_nullable(one.nullable)
            }
            _ => one.clone(),
        }),
        _ => None,
    };
    let result = result.ok_or_else(|| FunctionError::InvalidArguments {
        function: name.to_string(),
        arguments: arguments
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        signatures: vec![format!("{name}(<NUMERIC>)")],
    })?;
    Ok(AggregateTypes {
        function: name.to_string(),
        arguments: arguments.to_vec(),
        result,
        is_null_when_empty: name != "COUNT",
    })
}

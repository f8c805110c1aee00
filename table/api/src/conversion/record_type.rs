//! The columns of a Rust type.

use aquifer_table_common::{Result, SchemaErrorKind};
use aquifer_types::{DataType, DataTypes, Field};
use arrow_schema::{DataType as ArrowType, Field as ArrowField, FieldRef};
use serde::de::DeserializeOwned;
use serde_arrow::schema::{SchemaLike, TracingOptions};
use serde_arrow::utils::Item;

/// The columns of a Rust type, and how its values hold them.
#[derive(Debug, Clone)]
pub(crate) struct RecordType {
    /// The columns.
    pub(crate) fields: Vec<Field>,
    /// Whether the fields of a value are the columns; else the value itself is the only column.
    pub(crate) is_record: bool,
    /// The type's name, for messages.
    pub(crate) rust_type: &'static str,
}

impl RecordType {
    /// The columns of `T`.
    ///
    /// # Errors
    /// `schema.invalid_type` for types that are no columns, such as enums; the message names the field.
    pub(crate) fn of<T: DeserializeOwned>() -> Result<Self> {
        let rust_type = std::any::type_name::<T>();
        let options = TracingOptions::default()
            .allow_null_fields(true)
            .map_as_struct(false)
            .sequence_as_large_list(false)
            .strings_as_large_utf8(false)
            .bytes_as_large_binary(false);
        let traced = Vec::<FieldRef>::from_type::<Item<T>>(options).map_err(|error| {
            let reason = format!(
                "its columns cannot be found: {}. Fields of types that are text for serde, such as dates of other \
                 crates, can be declared as String or as a number",
                error.message().trim_end_matches('.')
            );
            invalid(rust_type, reason)
        })?;
        let item = traced
            .first()
            .ok_or_else(|| invalid(rust_type, "it has no columns".to_string()))?;
        let record = match item.data_type() {
            ArrowType::Struct(fields) if !item.is_nullable() => Some(fields),
            _ => None,
        };
        let convert = |path: &str, field: &ArrowField| logical_type(field, path, rust_type);
        let fields = match record {
            Some(fields) if fields.is_empty() => {
                return Err(invalid(
                    rust_type,
                    "it has no fields, so it has no columns".to_string(),
                ));
            }
            Some(fields) => {
                let names = field_names(fields.iter().map(|field| field.name()));
                let fields = names
                    .iter()
                    .zip(fields)
                    .map(|(name, field)| Ok(Field::new(name, convert(name, field)?)));
                fields.collect::<Result<_>>()?
            }
            None => vec![Field::new("f0", convert("f0", item)?)],
        };
        Ok(RecordType {
            fields,
            is_record: record.is_some(),
            rust_type,
        })
    }

    /// The types of the columns.
    pub(crate) fn types(&self) -> Vec<DataType> {
        self.fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }
}

fn invalid(rust_type: &str, reason: String) -> aquifer_table_common::TableError {
    SchemaErrorKind::InvalidType {
        text: rust_type.to_string(),
        reason,
    }
    .into()
}

/// The names of a struct's fields; those of a tuple, which the tracer numbers, become `f0, f1, ..`.
fn field_names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let names: Vec<String> = names.cloned().collect();
    let is_tuple = names
        .iter()
        .enumerate()
        .all(|(i, name)| *name == i.to_string());
    if is_tuple {
        (0..names.len()).map(|i| format!("f{i}")).collect()
    } else {
        names
    }
}

/// The logical type of a traced field.
fn logical_type(field: &ArrowField, path: &str, rust_type: &str) -> Result<DataType> {
    let refuse = |what: &str| {
        Err(invalid(
            rust_type,
            format!("field '{path}' is {what}, which is no SQL type"),
        ))
    };
    let data_type = match field.data_type() {
        ArrowType::Boolean => DataTypes::boolean(),
        ArrowType::Int8 => DataTypes::tinyint(),
        ArrowType::Int16 | ArrowType::UInt8 => DataTypes::smallint(),
        ArrowType::Int32 | ArrowType::UInt16 => DataTypes::int(),
        ArrowType::Int64 | ArrowType::UInt32 | ArrowType::UInt64 => DataTypes::bigint(),
        ArrowType::Float32 => DataTypes::float(),
        ArrowType::Float64 => DataTypes::double(),
        ArrowType::Utf8 => DataTypes::string(),
        ArrowType::Binary => DataTypes::bytes(),
        ArrowType::List(element)
            if matches!(element.data_type(), ArrowType::UInt8) && !element.is_nullable() =>
        {
            DataTypes::bytes()
        }
        ArrowType::List(element) => {
            DataTypes::array(logical_type(element, &format!("{path}[]"), rust_type)?)
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(parts) if parts.len() == 2 => DataTypes::map(
                logical_type(&parts[0], &format!("{path}.key"), rust_type)?.not_null(),
                logical_type(&parts[1], &format!("{path}.value"), rust_type)?,
            ),
            _ => return refuse("a map without keys and values"),
        },
        ArrowType::Struct(fields) if fields.is_empty() => return refuse("a struct without fields"),
        ArrowType::Struct(fields) => {
            let names = field_names(fields.iter().map(|field| field.name()));
            let fields = names.iter().zip(fields).map(|(name, field)| {
                Ok(Field::new(
                    name,
                    logical_type(field, &format!("{path}.{name}"), rust_type)?,
                ))
            });
            DataTypes::row(fields.collect::<Result<Vec<_>>>()?)
        }
        ArrowType::Union(_, _) => return refuse("an enum"),
        ArrowType::Null => return refuse("a type without values, such as ()"),
        other => return refuse(&format!("of Arrow type {other}")),
    };
    Ok(data_type.with_nullable(field.is_nullable()))
}

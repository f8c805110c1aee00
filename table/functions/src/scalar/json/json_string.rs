//! `JSON_STRING`: a value of any type as JSON.

use aquifer_types::{DataType, LogicalType};
use aquifer_types::{DataTypes, Value, column_value, temporal};
use arrow_array::Array;
use serde_json::{Map, Number, Value as Json};

use crate::definition::{BuiltIn, Implementation, Inference};
use crate::kernel::rows::for_text_rows;
use crate::signature::Inferred;

pub(super) const JSON_STRING: BuiltIn = BuiltIn::with(
    "JSON_STRING",
    "A value of any type as JSON.",
    Inference::Custom(&["JSON_STRING(<ANY>)"], |arguments| {
        let [value] = arguments else { return None };
        let result = DataTypes::string().with_nullable(value.data_type.nullable);
        Some(Inferred {
            arguments: vec![value.data_type.clone()],
            result,
        })
    }),
    Implementation::Kernel(|args| {
        let data_type = args.types[0].clone();
        Ok(Box::new(move |columns, context| {
            let array = columns[0].array();
            for_text_rows(columns, context.rows, |row, out| {
                let at = columns[0].position(row);
                if array.is_null(at) || data_type.logical == LogicalType::Null {
                    return Ok(false);
                }
                let value = column_value(array.as_ref(), at, &data_type);
                out.push_str(&to_json(&value, &data_type).to_string());
                Ok(true)
            })
        }))
    }),
)
.infallible();

fn to_json(value: &Value, data_type: &DataType) -> Json {
    let float = |v: f64, text: String| Number::from_f64(v).map_or(Json::String(text), Json::Number);
    match (value, &data_type.logical) {
        (Value::Null, _) => Json::Null,
        (Value::Boolean(v), _) => Json::Bool(*v),
        (Value::Float(v), _) => float(f64::from(*v), value.to_string()),
        (Value::Double(v), _) => float(*v, value.to_string()),
        (Value::Decimal(v), _) => float(v.to_f64(), v.to_string()),
        (Value::Bytes(v), _) => {
            let mut text = String::new();
            crate::scalar::encoding::encode_base64(v, &mut text);
            Json::String(text)
        }
        (Value::Time(v), LogicalType::Time(p)) => Json::String(temporal::format_time(*v, *p)),
        (Value::Timestamp(v), LogicalType::Timestamp(p)) => {
            Json::String(temporal::format_timestamp(*v, *p).replacen(' ', "T", 1))
        }
        (Value::TimestampLtz(v), LogicalType::TimestampLtz(p)) => {
            Json::String(temporal::format_timestamp(*v, *p).replacen(' ', "T", 1) + "Z")
        }
        (Value::Array(elements), LogicalType::Array(element)) => {
            Json::Array(elements.iter().map(|e| to_json(e, element)).collect())
        }
        (Value::Map(pairs), LogicalType::Map(_, of)) => Json::Object(
            pairs
                .iter()
                .map(|(k, v)| (k.to_string(), to_json(v, of)))
                .collect(),
        ),
        (Value::Map(pairs), _) => Json::Object(
            pairs
                .iter()
                .map(|(k, v)| (k.to_string(), to_json(v, &DataTypes::int())))
                .collect(),
        ),
        (Value::Row(row), LogicalType::Row(fields)) => {
            let members = fields.iter().zip(row.fields());
            Json::Object(
                members
                    .map(|(field, value)| (field.name.clone(), to_json(value, &field.data_type)))
                    .collect::<Map<_, _>>(),
            )
        }
        (other, _) => match other.as_i64() {
            Some(number) => Json::Number(number.into()),
            None => Json::String(other.to_string()),
        },
    }
}

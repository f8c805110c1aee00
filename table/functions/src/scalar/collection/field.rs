//! A field of a row: `row.name`.

use aquifer_types::LogicalType;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::NullBuffer;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::{FunctionError, Result};
use crate::signature::Inferred;

pub(super) const FIELD: BuiltIn = BuiltIn::with(
    "FIELD",
    "The field of a row with a name; NULL if the row is NULL.",
    Inference::Custom(&["<ROW>.<NAME>"], |arguments| {
        let [row, name] = arguments else { return None };
        let LogicalType::Row(fields) = &row.data_type.logical else {
            return None;
        };
        let field = fields
            .iter()
            .find(|f| Some(f.name.as_str()) == name.text())?;
        let result = field.data_type.clone();
        let nullable = result.nullable || row.data_type.nullable;
        Some(Inferred {
            arguments: vec![row.data_type.clone(), name.data_type.clone()],
            result: result.with_nullable(nullable),
        })
    }),
    Implementation::Kernel(|args| {
        let index = match (&args.types[0].logical, args.literal_text(1)) {
            (LogicalType::Row(fields), Some(name)) => fields.iter().position(|f| f.name == name),
            _ => None,
        };
        let Some(index) = index else {
            return Err(FunctionError::runtime("the row has no such field"));
        };
        Ok(Box::new(move |columns, _| {
            let part = child(columns[0].array(), index)?;
            Ok(if columns[0].is_scalar() {
                Column::Scalar(part)
            } else {
                Column::Array(part)
            })
        }))
    }),
)
.infallible();

/// Returns a field's column, NULL where the row is.
pub(super) fn child(rows: &ArrayRef, index: usize) -> Result<ArrayRef> {
    let rows = rows.as_struct();
    let column = rows.column(index);
    let Some(outer) = rows.nulls().filter(|n| n.null_count() > 0) else {
        return Ok(column.clone());
    };
    if *column.data_type() == arrow_schema::DataType::Null {
        return Ok(column.clone());
    }
    let nulls = NullBuffer::union(Some(outer), column.nulls());
    Ok(make_array(
        column.to_data().into_builder().nulls(nulls).build()?,
    ))
}

//! `ROW(..)`.

use std::sync::Arc;

use aquifer_types::DataTypes;
use arrow_array::StructArray;
use arrow_schema::DataType as ArrowType;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::error::Result;
use crate::signature::Inferred;

pub(super) const ROW: BuiltIn = BuiltIn::with(
    "ROW",
    "A row of the values, with fields f0, f1 and so on.",
    Inference::Custom(&["ROW(<ANY>...)"], |arguments| {
        let types: Vec<_> = arguments.iter().map(|a| a.data_type.clone()).collect();
        let result = DataTypes::row_of(types.clone()).not_null();
        Some(Inferred {
            arguments: types,
            result,
        })
    }),
    Implementation::Kernel(|args| {
        let ArrowType::Struct(fields) = args.result.to_arrow() else {
            unreachable!("ROW is a struct")
        };
        Ok(Box::new(move |columns, context| {
            let columns = columns
                .iter()
                .map(|c| c.clone().into_array(context.rows))
                .collect::<Result<Vec<_>>>()?;
            let rows =
                StructArray::try_new_with_length(fields.clone(), columns, None, context.rows)?;
            Ok(Column::Array(Arc::new(rows)))
        }))
    }),
)
.infallible();

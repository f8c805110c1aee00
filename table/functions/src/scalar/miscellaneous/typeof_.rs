//! `TYPEOF`.

use std::sync::Arc;

use aquifer_types::DataTypes;
use arrow_array::StringArray;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Nulls};
use crate::signature::{Inferred, Kind};

pub(super) const TYPEOF: BuiltIn = BuiltIn::with(
    "TYPEOF",
    "The type of a value as text.",
    Inference::Custom(
        &["TYPEOF(<ANY>)", "TYPEOF(<ANY>, <BOOLEAN LITERAL>)"],
        |arguments| {
            let (value, rest) = arguments.split_first()?;
            let mut types = vec![value.data_type.clone()];
            match rest {
                [] => {}
                [flag] if flag.literal.is_some() => types.push(Kind::Boolean.accept(flag)?),
                _ => return None,
            }
            Some(Inferred {
                arguments: types,
                result: DataTypes::string(),
            })
        },
    ),
    Implementation::Kernel(|args| {
        let text = args.types[0].to_string();
        Ok(Box::new(move |_, _| {
            Ok(Column::Scalar(Arc::new(StringArray::from(vec![
                text.as_str(),
            ]))))
        }))
    }),
)
.nulls(Nulls::Always)
.infallible();

//! `ARRAY_CONTAINS`, `ARRAY_POSITION` and `ARRAY_REMOVE`; NULL is found like any value.

use aquifer_types::DataTypes;

use super::lists::{Lists, array_and_element, build, comparator};
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference};
use crate::kernel::rows::for_rows;
use crate::signature::Inferred;

pub(super) const ARRAY_CONTAINS: BuiltIn = BuiltIn::with(
    "ARRAY_CONTAINS",
    "Whether an element of the array equals a value.",
    Inference::Custom(&["ARRAY_CONTAINS(<ARRAY>, <ELEMENT>)"], |arguments| {
        let [array, value] = arguments else {
            return None;
        };
        let result = DataTypes::boolean().with_nullable(array.data_type.nullable);
        Some(Inferred {
            arguments: array_and_element(array, value)?,
            result,
        })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            let order = comparator(lists.elements(), columns[1].array())?;
            for_rows::<bool>(&columns[..1], context.rows, &result, |row| {
                let value = columns[1].position(row);
                Ok(lists
                    .range(row)
                    .map(|mut range| range.any(|i| order(i, value).is_eq())))
            })
        }))
    }),
);

pub(super) const ARRAY_POSITION: BuiltIn = BuiltIn::with(
    "ARRAY_POSITION",
    "The position from 1 of the first element that equals a value; 0 if there is none.",
    Inference::Custom(&["ARRAY_POSITION(<ARRAY>, <ELEMENT>)"], |arguments| {
        let [array, value] = arguments else {
            return None;
        };
        let nullable = array.data_type.nullable || value.data_type.nullable;
        let result = DataTypes::int().with_nullable(nullable);
        Some(Inferred {
            arguments: array_and_element(array, value)?,
            result,
        })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            let lists = Lists::of(&columns[0]);
            let order = comparator(lists.elements(), columns[1].array())?;
            for_rows::<i32>(columns, context.rows, &result, |row| {
                let value = columns[1].position(row);
                Ok(lists.range(row).map(|mut range| {
                    range
                        .position(|i| order(i, value).is_eq())
                        .map_or(0, |i| i as i32 + 1)
                }))
            })
        }))
    }),
);

pub(super) const ARRAY_REMOVE: BuiltIn = BuiltIn::with(
    "ARRAY_REMOVE",
    "The array without the elements that equal a value.",
    Inference::Custom(&["ARRAY_REMOVE(<ARRAY>, <ELEMENT>)"], |arguments| {
        let [array, value] = arguments else {
            return None;
        };
        let types = array_and_element(array, value)?;
        Some(Inferred {
            arguments: types,
            result: array.data_type.clone(),
        })
    }),
    Implementation::Kernel(|args| {
        let result = args.result.clone();
        Ok(Box::new(move |columns, context| {
            if columns[0].is_null_scalar() {
                return Ok(Column::null(&result.to_arrow()));
            }
            let lists = Lists::of(&columns[0]);
            let order = comparator(lists.elements(), columns[1].array())?;
            build(&result, context.rows, &[lists.elements()], |row, out| {
                let Some(range) = lists.range(row) else {
                    return Ok(false);
                };
                let value = columns[1].position(row);
                out.extend(range.filter(|i| order(*i, value).is_ne()).map(|i| (0, i)));
                Ok(true)
            })
        }))
    }),
);

//! `%` and `MOD`: the rest of a division, with the sign of the dividend.

use std::sync::Arc;

use aquifer_types::decimal::modulo_type;
use aquifer_types::{DataTypes, LogicalType};
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};

use super::add_subtract::unexpected;
use super::{decimal, infer};
use crate::cast;
use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Kernel, KernelArgs, Notation};
use crate::error::Result;
use crate::kernel::primitive::{binary, try_binary};

pub(super) const MODULO: BuiltIn = BuiltIn::with(
    "%",
    "The rest of a division, with the sign of the dividend; zero as divisor is an error for integers and decimals.",
    Inference::Custom(&["<NUMERIC> % <NUMERIC>"], |arguments| {
        let mut inferred = infer::numbers(arguments, modulo_type)?;
        // The rest is less than the divisor, whose type it has.
        let divisor = &arguments[1].data_type.logical;
        let whole = inferred.arguments.iter().all(|t| match t.logical {
            LogicalType::Decimal { scale, .. } => scale == 0,
            ref other => other.is_integer(),
        });
        if whole && (divisor.is_integer() || divisor.is_decimal()) {
            inferred.result.logical = divisor.clone();
        }
        Some(inferred)
    }),
    Implementation::Kernel(kernel),
)
.aliases(&["MOD"])
.notation(Notation::Infix);

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let operand = args.types[0].to_arrow();
    let result = args.result.to_arrow();
    macro_rules! integer {
        ($arrow:ty) => {
            Ok(Box::new(move |c, x| {
                let rest = try_binary::<$arrow, $arrow, $arrow>(
                    &c[0],
                    &c[1],
                    x.rows,
                    &operand,
                    |a, b| {
                        if b == 0 {
                            return Err(format!("division of {a} by zero"));
                        }
                        Ok(Some(a.wrapping_rem(b)))
                    },
                )?;
                if operand == result {
                    return Ok(rest);
                }
                let array = arrow_cast::cast(rest.array(), &result)?;
                Ok(if rest.is_scalar() {
                    Column::Scalar(array)
                } else {
                    Column::Array(Arc::clone(&array))
                })
            }))
        };
    }
    match args.types[0].logical {
        LogicalType::TinyInt => integer!(Int8Type),
        LogicalType::SmallInt => integer!(Int16Type),
        LogicalType::Int => integer!(Int32Type),
        LogicalType::BigInt => integer!(Int64Type),
        LogicalType::Float => Ok(Box::new(move |c, _| {
            binary::<Float32Type, Float32Type, Float32Type>(&c[0], &c[1], &result, |a, b| a % b)
        })),
        LogicalType::Double => Ok(Box::new(move |c, _| {
            binary::<Float64Type, Float64Type, Float64Type>(&c[0], &c[1], &result, |a, b| a % b)
        })),
        _ => {
            if args.result.logical.is_decimal() {
                return decimal::modulo(args).ok_or_else(|| unexpected("%"));
            }
            // The rest of whole decimals by an integer is such an integer.
            let wide = DataTypes::decimal(38, 0);
            let rest = decimal::modulo(&KernelArgs {
                result: &wide,
                ..*args
            })
            .ok_or_else(|| unexpected("%"))?;
            let cast = cast::compile(&wide, args.result)?;
            Ok(Box::new(move |c, x| {
                let context = cast::CastContext {
                    eval: x.eval,
                    try_: false,
                };
                let rest = rest(c, x)?;
                let array = cast(rest.array(), &context)?;
                Ok(if rest.is_scalar() {
                    Column::Scalar(array)
                } else {
                    Column::Array(array)
                })
            }))
        }
    }
}

//! `UUID`: a random identifier (RFC 9562, version 4) for each row.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;

use crate::column::Column;
use crate::definition::{BuiltIn, Implementation, Inference, Volatility};
use crate::error::FunctionError;
use crate::signature::Inferred;

pub(super) const UUID: BuiltIn = BuiltIn::with(
    "UUID",
    "A random identifier of 36 characters, for each row another.",
    Inference::Custom(&["UUID()"], |arguments| {
        arguments.is_empty().then(|| Inferred {
            arguments: vec![],
            result: aquifer_types::DataTypes::string().not_null(),
        })
    }),
    Implementation::Kernel(|_| {
        Ok(Box::new(|_, context| {
            let mut random = vec![0; context.rows * 16];
            getrandom::fill(&mut random)
                .map_err(|e| FunctionError::runtime(format!("no random numbers: {e}")))?;
            let mut builder = StringBuilder::with_capacity(context.rows, context.rows * 36);
            let mut text = String::with_capacity(36);
            for bytes in random.chunks_exact_mut(16) {
                bytes[6] = bytes[6] & 0x0F | 0x40;
                bytes[8] = bytes[8] & 0x3F | 0x80;
                text.clear();
                for (i, byte) in bytes.iter().enumerate() {
                    if matches!(i, 4 | 6 | 8 | 10) {
                        text.push('-');
                    }
                    let _ = write!(text, "{byte:02x}");
                }
                builder.append_value(&text);
            }
            Ok(Column::Array(Arc::new(builder.finish())))
        }))
    }),
)
.volatility(Volatility::Row);

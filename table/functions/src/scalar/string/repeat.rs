//! `REPEAT`.

use crate::definition::BuiltIn;
use crate::kernel::rows::{I32, Text, fail, text2};
use crate::signature::{Kind, Returns, Signature};

/// A longer result is taken for a mistake.
const MAX_BYTES: usize = 1 << 28;

pub(super) const REPEAT: BuiltIn = BuiltIn::new(
    "REPEAT",
    "The text some times one after the other.",
    &[Signature::new(&[Kind::Text, Kind::Int], Returns::String)],
    |_| {
        Ok(text2::<Text, I32>(|text, times, out| {
            let times = times.max(0) as usize;
            if text.len().saturating_mul(times) > MAX_BYTES {
                return fail(format!("a text repeated {times} times is too long"));
            }
            (0..times).for_each(|_| out.push_str(text));
            Ok(true)
        }))
    },
);

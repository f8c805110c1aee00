//! `TRIM`, `LTRIM`, `RTRIM` and `BTRIM`: characters of a set taken off the ends, blanks by default.

use crate::definition::{BuiltIn, Kernel, KernelArgs};
use crate::error::{FunctionError, Result};
use crate::kernel::rows::{Text, text1, text2};
use crate::signature::{Kind, Returns, Signature};

const SIGNATURES: &[Signature] = &[
    Signature::new(&[Kind::Text], Returns::String),
    Signature::new(&[Kind::Text, Kind::Text], Returns::String),
];

#[derive(Clone, Copy)]
struct Sides {
    left: bool,
    right: bool,
}

const BOTH: Sides = Sides {
    left: true,
    right: true,
};
const LEADING: Sides = Sides {
    left: true,
    right: false,
};
const TRAILING: Sides = Sides {
    left: false,
    right: true,
};

fn trim<'a>(mut text: &'a str, set: &str, sides: Sides) -> &'a str {
    let inside = |c: char| set.contains(c);
    if sides.left {
        text = text.trim_start_matches(inside);
    }
    if sides.right {
        text = text.trim_end_matches(inside);
    }
    text
}

fn kernel(args: &KernelArgs<'_>, sides: Sides) -> Result<Kernel> {
    if args.types.len() == 1 {
        return Ok(text1::<Text>(move |text, out| {
            out.push_str(trim(text, " ", sides));
            Ok(true)
        }));
    }
    Ok(text2::<Text, Text>(move |text, set, out| {
        out.push_str(trim(text, set, sides));
        Ok(true)
    }))
}

pub(super) const BTRIM: BuiltIn = BuiltIn::new(
    "BTRIM",
    "The text without the characters of a set at both ends.",
    SIGNATURES,
    |args| kernel(args, BOTH),
)
.infallible();

pub(super) const LTRIM: BuiltIn = BuiltIn::new(
    "LTRIM",
    "The text without the characters of a set at its begin.",
    SIGNATURES,
    |args| kernel(args, LEADING),
)
.infallible();

pub(super) const RTRIM: BuiltIn = BuiltIn::new(
    "RTRIM",
    "The text without the characters of a set at its end.",
    SIGNATURES,
    |args| kernel(args, TRAILING),
)
.infallible();

pub(super) const TRIM: BuiltIn = BuiltIn::new(
    "TRIM",
    "The text (third argument) without the characters of a set (second) at the ends that BOTH, LEADING or TRAILING names.",
    &[
        Signature::new(&[Kind::Symbol, Kind::Text, Kind::Text], Returns::String),
        Signature::new(&[Kind::Text], Returns::String),
    ],
    |args| {
        if args.types.len() == 1 {
            return kernel(args, BOTH);
        }
        let sides = match args.literal_text(0) {
            Some("BOTH") => BOTH,
            Some("LEADING") => LEADING,
            Some("TRAILING") => TRAILING,
            other => {
                return Err(FunctionError::InvalidLiteral {
                    function: "TRIM".to_owned(),
                    position: 1,
                    message: format!(
                        "must be BOTH, LEADING or TRAILING, but is {}",
                        other.unwrap_or("NULL")
                    ),
                });
            }
        };
        let two = text2::<Text, Text>(move |set, text, out| {
            out.push_str(trim(text, set, sides));
            Ok(true)
        });
        Ok(Box::new(move |columns, context| two(&columns[1..], context)))
    },
)
.infallible();

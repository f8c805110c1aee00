//! `POSITION` and `LOCATE`.

use super::characters;
use crate::definition::BuiltIn;
use crate::kernel::rows::{I32, Text, map2, map3};
use crate::signature::{Kind, Returns, Signature};

pub(super) const POSITION: BuiltIn = BuiltIn::new(
    "POSITION",
    "The position of the first text in the second; 0 if it is not in it.",
    &[Signature::new(&[Kind::Text, Kind::Text], Returns::Int)],
    |args| {
        Ok(map2::<Text, Text, i32>(args.result, |part, text| {
            Ok(Some(find(part, text, 1)))
        }))
    },
)
.infallible();

pub(super) const LOCATE: BuiltIn = BuiltIn::new(
    "LOCATE",
    "The position of the first text in the second, from a position on; 0 if it is not in it.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::Int),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Int], Returns::Int),
    ],
    |args| {
        if args.types.len() == 2 {
            return Ok(map2::<Text, Text, i32>(args.result, |part, text| {
                Ok(Some(find(part, text, 1)))
            }));
        }
        Ok(map3::<Text, Text, I32, i32>(
            args.result,
            |part, text, start| Ok(Some(find(part, text, start))),
        ))
    },
)
.infallible();

fn find(part: &str, text: &str, start: i32) -> i32 {
    let Ok(skipped) = usize::try_from(start.saturating_sub(1)) else {
        return 0;
    };
    let from = characters::offset(text, skipped);
    match text[from..].find(part) {
        Some(at) => characters::count(&text[..from + at]) as i32 + 1,
        None => 0,
    }
}

//! `INSTR`: the position of a text's n-th occurrence from a position on, forwards or backwards.

use super::characters;
use crate::definition::BuiltIn;
use crate::error::Result;
use crate::kernel::rows::{I32, Text, fail, map2, map3, map4};
use crate::signature::{Kind, Returns, Signature};

pub(super) const INSTR: BuiltIn = BuiltIn::new(
    "INSTR",
    "The position of the second text's occurrence in the first, from a position on, by number; 0 if there is none.",
    &[
        Signature::new(&[Kind::Text, Kind::Text], Returns::Int),
        Signature::new(&[Kind::Text, Kind::Text, Kind::Int], Returns::Int),
        Signature::new(
            &[Kind::Text, Kind::Text, Kind::Int, Kind::Int],
            Returns::Int,
        ),
    ],
    |args| {
        Ok(match args.types.len() {
            2 => {
                map2::<Text, Text, i32>(args.result, |text, part| Ok(Some(find(text, part, 1, 1)?)))
            }
            3 => map3::<Text, Text, I32, i32>(args.result, |text, part, start| {
                Ok(Some(find(text, part, start, 1)?))
            }),
            _ => map4::<Text, Text, I32, I32, i32>(args.result, |text, part, start, nth| {
                Ok(Some(find(text, part, start, nth)?))
            }),
        })
    },
);

fn find(text: &str, part: &str, start: i32, nth: i32) -> Result<i32> {
    if nth <= 0 {
        return fail(format!(
            "the number of an occurrence must be positive, but is {nth}"
        ));
    }
    let length = characters::count(text);
    let position = |at: usize| characters::count(&text[..at]) as i32 + 1;
    if start > 0 {
        let mut from = characters::offset(text, start as usize - 1);
        for n in 1..=nth {
            let Some(found) = text[from..].find(part) else {
                return Ok(0);
            };
            if n == nth {
                return Ok(position(from + found));
            }
            // The next occurrence may overlap with this one.
            let step = text[from + found..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
            if step == 0 {
                return Ok(0);
            }
            from += found + step;
        }
        return Ok(0);
    }
    if start == 0 {
        return Ok(0);
    }
    // From the end: an occurrence may begin at that position at the latest.
    let Some(last) = length.checked_sub(start.unsigned_abs() as usize) else {
        return Ok(0);
    };
    let begins: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .take(last + 1)
        .collect();
    let mut found = begins
        .into_iter()
        .rev()
        .filter(|at| text[*at..].starts_with(part));
    Ok(found.nth(nth as usize - 1).map_or(0, position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences() {
        assert_eq!(find("Corporate Floor", "or", -3, 2).unwrap(), 2);
        assert_eq!(find("Tech on the net", "e", 1, 2).unwrap(), 11);
        assert_eq!(find("Tech on the net", "e", -1, 1).unwrap(), 14);
        assert_eq!(find("aaa", "aa", 1, 2).unwrap(), 2);
        assert_eq!(find("äöä", "ä", 2, 1).unwrap(), 3);
        assert_eq!(find("", "", 1, 3).unwrap(), 0);
        assert_eq!(find("abc", "x", -9, 1).unwrap(), 0);
    }
}

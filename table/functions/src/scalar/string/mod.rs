//! Functions on text. Positions count characters (Unicode code points) from one.

use crate::definition::BuiltIn;

mod ascii;
mod char_length;
mod characters;
mod chr;
mod concat;
mod concat_ws;
mod fix;
mod initcap;
mod instr;
mod left_right;
mod letter_case;
mod overlay;
mod pad;
mod position;
mod repeat;
mod replace;
mod reverse;
mod split_index;
mod substring;
mod translate;
mod trim;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    ascii::ASCII,
    trim::BTRIM,
    char_length::CHAR_LENGTH,
    chr::CHR,
    concat::CONCAT,
    concat_ws::CONCAT_WS,
    fix::ENDSWITH,
    initcap::INITCAP,
    instr::INSTR,
    left_right::LEFT,
    position::LOCATE,
    letter_case::LOWER,
    pad::LPAD,
    trim::LTRIM,
    overlay::OVERLAY,
    position::POSITION,
    repeat::REPEAT,
    replace::REPLACE,
    reverse::REVERSE,
    left_right::RIGHT,
    pad::RPAD,
    trim::RTRIM,
    split_index::SPLIT_INDEX,
    fix::STARTSWITH,
    substring::SUBSTRING,
    translate::TRANSLATE,
    trim::TRIM,
    letter_case::UPPER,
];

//! Mathematical functions.

use crate::definition::BuiltIn;

mod abs;
mod bin_hex;
mod double;
mod floor_ceil;
mod log;
mod power;
mod round;
mod sign;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    abs::ABS,
    double::ACOS,
    double::ASIN,
    double::ATAN,
    double::ATAN2,
    bin_hex::BIN,
    floor_ceil::CEIL,
    double::COS,
    double::COSH,
    double::COT,
    double::DEGREES,
    double::E,
    double::EXP,
    floor_ceil::FLOOR,
    bin_hex::HEX,
    double::LN,
    log::LOG,
    double::LOG10,
    double::LOG2,
    double::PI,
    power::POWER,
    double::RADIANS,
    round::ROUND,
    sign::SIGN,
    double::SIN,
    double::SINH,
    double::SQRT,
    double::TAN,
    double::TANH,
    round::TRUNCATE,
    bin_hex::UNHEX,
];

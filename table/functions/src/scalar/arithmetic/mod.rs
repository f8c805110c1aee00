//! Arithmetic operators.

use crate::definition::BuiltIn;

mod add_subtract;
mod decimal;
mod divide;
mod infer;
mod modulo;
mod multiply;
mod numeric;
mod temporal;

pub(super) use temporal::add_months_to;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    modulo::MODULO,
    multiply::TIMES,
    add_subtract::PLUS,
    add_subtract::MINUS,
    divide::DIVIDE,
];

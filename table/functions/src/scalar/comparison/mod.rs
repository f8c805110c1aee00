//! Comparison operators and predicates on one value.

use crate::definition::BuiltIn;

mod between;
mod distinct_from;
mod equality;
mod greatest;
mod in_list;
mod infer;
mod is_null;
mod is_truth;
mod like;
mod order;

pub(super) const FUNCTIONS: &[BuiltIn] = &[
    order::LESS,
    order::LESS_OR_EQUAL,
    equality::NOT_EQUALS,
    equality::EQUALS,
    order::GREATER,
    order::GREATER_OR_EQUAL,
    between::BETWEEN,
    greatest::GREATEST,
    in_list::IN,
    distinct_from::IS_DISTINCT_FROM,
    is_truth::IS_FALSE,
    distinct_from::IS_NOT_DISTINCT_FROM,
    is_truth::IS_NOT_FALSE,
    is_null::IS_NOT_NULL,
    is_truth::IS_NOT_TRUE,
    is_truth::IS_NOT_UNKNOWN,
    is_null::IS_NULL,
    is_truth::IS_TRUE,
    is_truth::IS_UNKNOWN,
    greatest::LEAST,
    like::LIKE,
];

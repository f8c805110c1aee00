//! Literals and their types.
//!
//! A number without a point is an INT, BIGINT or DECIMAL, whichever is the first to hold it; with a
//! point it is a DECIMAL of as many digits as are written; with an exponent it is a DOUBLE. Text is
//! CHAR of its length, TIMESTAMP has as many fractional digits as are written.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::{Result, SchemaErrorKind, TableError};
use aquifer_types::temporal::{parse_date, parse_time, parse_timestamp};
use aquifer_types::{DataTypes, Decimal, Value};
use sqlparser::ast::{TypedString, Value as SqlValue, ValueWithSpan};
use sqlparser::tokenizer::Span;

use super::Analyser;

/// The most digits that a DECIMAL holds.
const MAX_DIGITS: usize = 38;

impl Analyser<'_> {
    /// A literal.
    pub(super) fn literal(&self, value: &ValueWithSpan) -> Result<ResolvedExpr> {
        match &value.value {
            SqlValue::Number(text, _) => self.number(text, value.span),
            SqlValue::SingleQuotedString(text) | SqlValue::UnicodeStringLiteral(text) => {
                Ok(ResolvedExpr::literal(Value::String(text.clone())))
            }
            SqlValue::HexStringLiteral(text) => {
                let bytes = decode_hex(text).ok_or_else(|| {
                    self.bad_literal(
                        format!("X'{text}'"),
                        "expected pairs of hex digits",
                        value.span,
                    )
                })?;
                Ok(ResolvedExpr::literal(Value::Bytes(bytes)))
            }
            SqlValue::Boolean(value) => Ok(ResolvedExpr::literal(*value)),
            SqlValue::Null => Ok(ResolvedExpr::null()),
            other => Err(self.unsupported(format!("the literal {other}"), value.span)),
        }
    }

    /// `DATE '..'`, `TIME '..'`, `TIMESTAMP '..'`.
    pub(super) fn typed_string(&self, typed: &TypedString) -> Result<ResolvedExpr> {
        let span = typed.value.span;
        let type_name = typed.data_type.to_string().to_ascii_uppercase();
        let SqlValue::SingleQuotedString(text) = &typed.value.value else {
            return Err(self.unsupported(format!("the literal {typed}"), span));
        };
        let text = text.trim();
        let literal = match type_name.as_str() {
            "DATE" => parse_date(text).map(|v| (Value::Date(v), DataTypes::date())),
            "TIME" => {
                parse_time(text).map(|v| (Value::Time(v), DataTypes::time(fraction_digits(text))))
            }
            "TIMESTAMP" => parse_timestamp(text).map(|v| {
                (
                    Value::Timestamp(v),
                    DataTypes::timestamp(fraction_digits(text)),
                )
            }),
            _ => return Err(self.unsupported(format!("a literal of type {type_name}"), span)),
        };
        let expected = match type_name.as_str() {
            "DATE" => "expected the form 2020-12-31",
            "TIME" => "expected the form 23:59:59",
            _ => "expected the form 2020-12-31 23:59:59.123",
        };
        let (value, data_type) = literal
            .ok_or_else(|| self.bad_literal(format!("{type_name} '{text}'"), expected, span))?;
        Ok(ResolvedExpr::typed_literal(value, data_type.not_null()))
    }

    fn number(&self, text: &str, span: Span) -> Result<ResolvedExpr> {
        let text = text.trim_end_matches('.');
        if text.contains(['e', 'E']) {
            return match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(ResolvedExpr::literal(value)),
                _ => Err(self.bad_literal(
                    text.to_string(),
                    "it is out of the range of DOUBLE",
                    span,
                )),
            };
        }
        if !text.contains('.') {
            if let Ok(value) = text.parse::<i32>() {
                return Ok(ResolvedExpr::literal(value));
            }
            if let Ok(value) = text.parse::<i64>() {
                return Ok(ResolvedExpr::literal(value));
            }
        }
        self.decimal(text, span)
    }

    fn decimal(&self, text: &str, span: Span) -> Result<ResolvedExpr> {
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let scale = text
            .split_once('.')
            .map_or(0, |(_, fraction)| fraction.len());
        let unscaled: String = text.chars().filter(char::is_ascii_digit).collect();
        let parsed = unscaled.trim_start_matches('0');
        let parsed = if parsed.is_empty() {
            Ok(0)
        } else {
            parsed.parse::<i128>()
        };
        let (Ok(unscaled), true) = (parsed, digits <= MAX_DIGITS) else {
            return Err(self.bad_literal(
                text.to_string(),
                "a DECIMAL has at most 38 digits",
                span,
            ));
        };
        let narrow = |n: usize| u8::try_from(n).expect("at most 38 digits were counted");
        let value = Value::Decimal(Decimal::new(unscaled, narrow(scale)));
        Ok(ResolvedExpr::typed_literal(
            value,
            DataTypes::decimal(narrow(digits), narrow(scale)).not_null(),
        ))
    }

    pub(super) fn bad_literal(&self, literal: String, reason: &str, span: Span) -> TableError {
        TableError::from(SchemaErrorKind::InvalidLiteral {
            literal,
            reason: reason.to_string(),
        })
        .at(self.place(span))
    }
}

/// The number of digits after the point.
fn fraction_digits(text: &str) -> u8 {
    let digits = text
        .rsplit_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    u8::try_from(digits.min(9)).unwrap_or(9)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok())
        .collect()
}

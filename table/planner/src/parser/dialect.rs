//! What Flink's dialect changes in `sqlparser`.
//!
//! Names are quoted by back-quotes alone, types are Flink's (kept as text in
//! [`DataType::Custom`](sqlparser::ast::DataType::Custom) and read by the analyser), and
//! aggregates take FILTER. Expressions that `sqlparser` lacks are in `expression.rs`.

use sqlparser::ast::{DataType, Expr, Ident, ObjectName};
use sqlparser::dialect::Dialect;
use sqlparser::keywords::{Keyword, RESERVED_FOR_COLUMN_ALIAS};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::data_type::parse_type;
use super::expression;

/// Flink's dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlinkDialect;

impl Dialect for FlinkDialect {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_match_recognize(&self) -> bool {
        true
    }

    fn supports_named_fn_args_with_rarrow_operator(&self) -> bool {
        true
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn require_interval_qualifier(&self) -> bool {
        true
    }

    fn is_custom_type_typed_string(&self, first_keyword: Keyword, qualified: bool) -> bool {
        !qualified
            && matches!(
                first_keyword,
                Keyword::DATE | Keyword::TIME | Keyword::TIMESTAMP
            )
    }

    fn parse_data_type(&self, parser: &mut Parser) -> Option<Result<DataType, ParserError>> {
        if is_interval_literal(parser) {
            return None;
        }
        Some(parse_type(parser).map(|syntax| {
            let name = Ident::with_span(syntax.span, syntax.text);
            DataType::Custom(ObjectName::from(vec![name]), Vec::new())
        }))
    }

    fn is_column_alias(&self, kw: &Keyword, _parser: &mut Parser) -> bool {
        *kw != Keyword::ON && !RESERVED_FOR_COLUMN_ALIAS.contains(kw)
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        expr: &Expr,
        _precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        expression::parse_between(parser, expr)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let [first, second] = parser.peek_tokens_ref();
        match (&first.token, &second.token) {
            (Token::Word(word), _)
                if word.keyword == Keyword::CASE && word.quote_style.is_none() =>
            {
                Some(expression::parse_case(parser))
            }
            (Token::Word(word), Token::Word(_) | Token::LParen)
                if word.keyword == Keyword::TABLE && word.quote_style.is_none() =>
            {
                Some(expression::parse_table(parser))
            }
            (Token::Word(word), Token::LBracket)
                if word.keyword == Keyword::MAP && word.quote_style.is_none() =>
            {
                Some(expression::parse_map(parser))
            }
            _ => None,
        }
    }
}

/// `INTERVAL` followed by a value, where it begins a literal and not a type.
fn is_interval_literal(parser: &Parser) -> bool {
    let [first, second] = parser.peek_tokens_ref();
    let is_interval = matches!(&first.token, Token::Word(w) if w.keyword == Keyword::INTERVAL);
    is_interval
        && !matches!(&second.token, Token::Word(w) if matches!(w.keyword,
            Keyword::YEAR | Keyword::MONTH | Keyword::DAY | Keyword::HOUR | Keyword::MINUTE | Keyword::SECOND))
}

//! What Flink's dialect changes in `sqlparser`.
//!
//! Names are quoted by back-quotes alone, types are Flink's (kept as text in
//! [`DataType::Custom`](sqlparser::ast::DataType::Custom) and read by the analyser), `MAP[k, v]`
//! makes a map and aggregates take FILTER.

use sqlparser::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName,
};
use sqlparser::dialect::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::data_type::parse_type;

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

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let [first, second] = parser.peek_tokens_ref();
        match (&first.token, &second.token) {
            (Token::Word(word), Token::LBracket)
                if word.keyword == Keyword::MAP && word.quote_style.is_none() =>
            {
                Some(parse_map(parser))
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

/// `MAP[k1, v1, ..]` as a call of `MAP`.
fn parse_map(parser: &mut Parser) -> Result<Expr, ParserError> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LBracket)?;
    let args = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RBracket)?;
    let args = args
        .into_iter()
        .map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e)))
        .collect();
    Ok(Expr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }))
}

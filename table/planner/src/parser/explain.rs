//! `EXPLAIN`.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::ast::{Explain, Statement};
use super::cursor::{parse_words, peek_word};
use super::statement::parse_statement;

/// The details that may be asked for.
const DETAILS: &[&str] = &[
    "CHANGELOG_MODE",
    "ESTIMATED_COST",
    "JSON_EXECUTION_PLAN",
    "PLAN_ADVICE",
];

pub(super) fn parse(parser: &mut Parser, sql: &str) -> Result<Explain, ParserError> {
    parser.expect_keyword(Keyword::EXPLAIN)?;
    let mut details = Vec::new();
    if !parse_words(parser, &["PLAN", "FOR"]) && DETAILS.iter().any(|d| peek_word(parser, d)) {
        loop {
            if !DETAILS.iter().any(|d| peek_word(parser, d)) {
                let token = parser.peek_token();
                return parser.expected(&DETAILS.join(", "), token);
            }
            details.push(parser.parse_identifier()?);
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
    }
    let token = parser.peek_token();
    let statement = if parser.parse_keywords(&[Keyword::STATEMENT, Keyword::SET]) {
        Statement::StatementSet(super::statement_set::parse_block(parser)?)
    } else {
        parse_statement(parser, sql)?
    };
    match statement {
        Statement::Query(_) | Statement::Insert(_) | Statement::StatementSet(_) => Ok(Explain {
            details,
            statement: Box::new(statement),
        }),
        _ => parser.expected("a query, INSERT or STATEMENT SET", token),
    }
}

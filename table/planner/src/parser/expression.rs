//! Expressions of Flink's dialect that `sqlparser` lacks.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, ObjectName,
};
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::cursor::{parse_path, parse_word, peek_nth_word};
use super::dialect::FlinkDialect;
use super::error::error_at;

/// `CASE [x] WHEN a, b THEN .. ELSE .. END`: several values of one branch become several branches.
pub(super) fn parse_case(parser: &mut Parser) -> Result<Expr, ParserError> {
    let case_token = AttachedToken(parser.expect_keyword(Keyword::CASE)?);
    let operand = if parser.peek_keyword(Keyword::WHEN) {
        None
    } else {
        Some(Box::new(parser.parse_expr()?))
    };
    let mut conditions = Vec::new();
    while parser.parse_keyword(Keyword::WHEN) {
        let values = if operand.is_some() {
            parser.parse_comma_separated(Parser::parse_expr)?
        } else {
            vec![parser.parse_expr()?]
        };
        parser.expect_keyword(Keyword::THEN)?;
        let result = parser.parse_expr()?;
        conditions.extend(values.into_iter().map(|condition| CaseWhen {
            condition,
            result: result.clone(),
        }));
    }
    if conditions.is_empty() {
        let found = parser.peek_token();
        return parser.expected("WHEN", found);
    }
    let else_result = if parser.parse_keyword(Keyword::ELSE) {
        Some(Box::new(parser.parse_expr()?))
    } else {
        None
    };
    let end_token = AttachedToken(parser.expect_keyword(Keyword::END)?);
    Ok(Expr::Case {
        case_token,
        end_token,
        operand,
        conditions,
        else_result,
    })
}

/// `x [NOT] BETWEEN { SYMMETRIC | ASYMMETRIC } a AND b`; with SYMMETRIC the bounds may come in either
/// order. None where this does not follow.
pub(super) fn parse_between(parser: &mut Parser, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let negated = peek_nth_word(parser, 0, "NOT");
    let at = usize::from(negated);
    let is_symmetric = peek_nth_word(parser, at + 1, "SYMMETRIC");
    let follows = peek_nth_word(parser, at, "BETWEEN")
        && (is_symmetric || peek_nth_word(parser, at + 1, "ASYMMETRIC"));
    follows.then(|| {
        for word in ["NOT", "BETWEEN", "SYMMETRIC", "ASYMMETRIC"] {
            parse_word(parser, word);
        }
        let precedence = FlinkDialect.prec_value(Precedence::Between);
        let low = parser.parse_subexpr(precedence)?;
        parser.expect_keyword(Keyword::AND)?;
        let high = parser.parse_subexpr(precedence)?;
        let between = |low: &Expr, high: &Expr| Expr::Between {
            expr: Box::new(expr.clone()),
            negated,
            low: Box::new(low.clone()),
            high: Box::new(high.clone()),
        };
        let forward = between(&low, &high);
        if !is_symmetric {
            return Ok(forward);
        }
        let op = if negated {
            BinaryOperator::And
        } else {
            BinaryOperator::Or
        };
        let right = Box::new(between(&high, &low));
        Ok(Expr::Nested(Box::new(Expr::BinaryOp {
            left: Box::new(forward),
            op,
            right,
        })))
    })
}

/// `TABLE t` and `TABLE (query)` as an argument of a table function.
pub(super) fn parse_table(parser: &mut Parser) -> Result<Expr, ParserError> {
    let prefix = parser.parse_identifier()?;
    let value = if parser.consume_token(&Token::LParen) {
        let query = parser.parse_query()?;
        parser.expect_token(&Token::RParen)?;
        Expr::Subquery(query)
    } else {
        Expr::CompoundIdentifier(parse_path(parser)?.parts)
    };
    if parser.peek_keyword(Keyword::PARTITION) {
        let location = parser.peek_token_ref().span.start;
        return Err(error_at(
            "PARTITION BY of a table argument is not supported",
            location,
        ));
    }
    Ok(Expr::Prefixed {
        prefix,
        value: Box::new(value),
    })
}

/// `MAP[k1, v1, ..]` as a call of `MAP`.
pub(super) fn parse_map(parser: &mut Parser) -> Result<Expr, ParserError> {
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

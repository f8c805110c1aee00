//! SQL expressions to resolved expressions: just enough of an analyser for expression tests.

use std::str::FromStr;

use aquifer_functions::{FunctionError, ResolvedExpr};
use aquifer_types::{DataType, DataTypes, Decimal, LogicalType, Value, temporal};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, CeilFloorKind, Expr, FunctionArg, FunctionArgExpr,
    FunctionArguments, InTarget, Interval, Subscript, TrimWhereField, UnaryOperator,
    Value as SqlValue,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

/// Why an expression has no answer.
#[derive(Debug)]
pub(crate) enum Problem {
    /// This analyser does not know the form.
    Unsupported(String),
    /// The expression is invalid.
    Invalid(FunctionError),
}

impl From<FunctionError> for Problem {
    fn from(error: FunctionError) -> Self {
        Self::Invalid(error)
    }
}

type Result<T> = std::result::Result<T, Problem>;

fn unsupported<T>(what: impl ToString) -> Result<T> {
    Err(Problem::Unsupported(what.to_string()))
}

/// Writes `MAP[..]`, which the parser does not know, as a call.
fn maps_as_calls(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut open = Vec::new();
    let mut quoted = false;
    for (at, c) in sql.char_indices() {
        quoted ^= c == '\'';
        match c {
            '[' if !quoted => {
                let is_map = sql[..at].to_uppercase().ends_with("MAP");
                open.push(is_map);
                if is_map {
                    out.truncate(out.len() - 3);
                    out.push_str("`MAP`(");
                    continue;
                }
            }
            ']' if !quoted && open.pop() == Some(true) => {
                out.push(')');
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// Resolves an expression over named columns.
pub(crate) fn resolve(sql: &str, columns: &[(String, DataType)]) -> Result<ResolvedExpr> {
    let parsed = Parser::new(&GenericDialect {})
        .try_with_sql(&maps_as_calls(sql))
        .and_then(|mut parser| {
            let expr = parser.parse_expr()?;
            match parser.peek_token().token {
                sqlparser::tokenizer::Token::EOF => Ok(expr),
                other => {
                    parser.expected("the end", sqlparser::tokenizer::TokenWithSpan::wrap(other))
                }
            }
        });
    match parsed {
        Ok(expr) => Scope { columns }.expr(&expr),
        Err(error) => unsupported(error),
    }
}

struct Scope<'a> {
    columns: &'a [(String, DataType)],
}

fn symbol(word: impl ToString) -> ResolvedExpr {
    ResolvedExpr::literal(word.to_string().to_uppercase())
}

impl Scope<'_> {
    fn call(&self, name: &str, args: &[&Expr]) -> Result<ResolvedExpr> {
        let args = args
            .iter()
            .map(|a| self.expr(a))
            .collect::<Result<Vec<_>>>()?;
        Ok(ResolvedExpr::call(name, args)?)
    }

    fn not(&self, negated: bool, expr: ResolvedExpr) -> Result<ResolvedExpr> {
        if negated {
            Ok(ResolvedExpr::call("NOT", [expr])?)
        } else {
            Ok(expr)
        }
    }

    fn expr(&self, expr: &Expr) -> Result<ResolvedExpr> {
        match expr {
            Expr::Identifier(name) => {
                let found = self.columns.iter().position(|(n, _)| *n == name.value);
                match found {
                    Some(index) => Ok(ResolvedExpr::input(index, self.columns[index].1.clone())),
                    None => self.call(&name.value, &[]),
                }
            }
            Expr::CompoundIdentifier(parts) => {
                let mut value = self.expr(&Expr::Identifier(parts[0].clone()))?;
                for part in &parts[1..] {
                    value = ResolvedExpr::call(
                        "FIELD",
                        [value, ResolvedExpr::literal(part.value.as_str())],
                    )?;
                }
                Ok(value)
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                let mut value = self.expr(root)?;
                for access in access_chain {
                    value = match access {
                        AccessExpr::Subscript(Subscript::Index { index }) => {
                            let index = self.expr(index)?;
                            ResolvedExpr::call("ITEM", [value, index])?
                        }
                        AccessExpr::Dot(Expr::Identifier(name)) => ResolvedExpr::call(
                            "FIELD",
                            [value, ResolvedExpr::literal(name.value.as_str())],
                        )?,
                        other => return unsupported(other),
                    };
                }
                Ok(value)
            }
            Expr::Nested(inner) => self.expr(inner),
            Expr::Value(value) => literal(&value.value),
            Expr::TypedString(typed) => {
                let data_type = parse_type(&typed.data_type.to_string())?;
                match &typed.value.value {
                    SqlValue::SingleQuotedString(text) => typed_string(text, &data_type),
                    other => unsupported(other),
                }
            }
            Expr::Interval(interval) => interval_literal(interval),
            Expr::UnaryOp { op, expr } => match op {
                UnaryOperator::Plus => self.call("+", &[expr]),
                UnaryOperator::Minus => negated(self.expr(expr)?),
                UnaryOperator::Not => self.call("NOT", &[expr]),
                other => unsupported(other),
            },
            Expr::BinaryOp { left, op, right } => {
                let name = match op {
                    BinaryOperator::And => "AND".to_owned(),
                    BinaryOperator::Or => "OR".to_owned(),
                    other => other.to_string(),
                };
                self.call(&name, &[left, right])
            }
            Expr::IsNull(e) => self.call("IS NULL", &[e]),
            Expr::IsNotNull(e) => self.call("IS NOT NULL", &[e]),
            Expr::IsTrue(e) => self.call("IS TRUE", &[e]),
            Expr::IsNotTrue(e) => self.call("IS NOT TRUE", &[e]),
            Expr::IsFalse(e) => self.call("IS FALSE", &[e]),
            Expr::IsNotFalse(e) => self.call("IS NOT FALSE", &[e]),
            Expr::IsUnknown(e) => self.call("IS UNKNOWN", &[e]),
            Expr::IsNotUnknown(e) => self.call("IS NOT UNKNOWN", &[e]),
            Expr::IsJson {
                expr,
                kind,
                negated,
                ..
            } => {
                let kind = kind
                    .as_ref()
                    .map_or("VALUE".to_owned(), ToString::to_string);
                let call = self.call(&format!("IS JSON {}", kind.to_uppercase()), &[expr])?;
                self.not(*negated, call)
            }
            Expr::IsDistinctFrom(a, b) => self.call("IS DISTINCT FROM", &[a, b]),
            Expr::IsNotDistinctFrom(a, b) => self.call("IS NOT DISTINCT FROM", &[a, b]),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => self.not(*negated, self.call("BETWEEN", &[expr, low, high])?),
            Expr::In {
                expr,
                target: InTarget::List(list),
                negated,
                ..
            } => {
                let args: Vec<&Expr> = std::iter::once(expr.as_ref()).chain(list).collect();
                self.not(*negated, self.call("IN", &args)?)
            }
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                any: false,
            } => {
                let mut args: Vec<&Expr> = vec![expr, pattern];
                args.extend(escape_char.as_deref());
                self.not(*negated, self.call("LIKE", &args)?)
            }
            Expr::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => {
                let mut args: Vec<&Expr> = vec![expr, pattern];
                args.extend(escape_char.as_deref());
                self.not(*negated, self.call("SIMILAR TO", &args)?)
            }
            Expr::Cast {
                kind,
                expr,
                data_type,
                ..
            } => {
                let to = parse_type(&data_type.to_string())?;
                let value = self.expr(expr)?;
                match kind {
                    CastKind::TryCast => Ok(value.try_cast(to)?),
                    _ => Ok(value.cast(to)?),
                }
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => {
                let branches = conditions
                    .iter()
                    .map(|when| {
                        let condition = match operand {
                            Some(operand) => self.call("=", &[operand, &when.condition])?,
                            None => self.expr(&when.condition)?,
                        };
                        Ok((condition, self.expr(&when.result)?))
                    })
                    .collect::<Result<_>>()?;
                let otherwise = else_result.as_ref().map(|e| self.expr(e)).transpose()?;
                Ok(ResolvedExpr::case(branches, otherwise)?)
            }
            Expr::Extract { field, expr, .. } => Ok(ResolvedExpr::call(
                "EXTRACT",
                [symbol(field), self.expr(expr)?],
            )?),
            Expr::Floor { expr, field } => self.rounded("FLOOR", expr, field),
            Expr::Ceil { expr, field } => self.rounded("CEIL", expr, field),
            Expr::Position { expr, r#in } => self.call("POSITION", &[expr, r#in]),
            Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                let mut args: Vec<&Expr> = vec![expr];
                args.extend(substring_from.as_deref());
                args.extend(substring_for.as_deref());
                self.call("SUBSTRING", &args)
            }
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
                trim_characters: None,
            } => {
                let side = match trim_where {
                    None | Some(TrimWhereField::Both) => "BOTH",
                    Some(TrimWhereField::Leading) => "LEADING",
                    Some(TrimWhereField::Trailing) => "TRAILING",
                };
                let what = match trim_what {
                    Some(what) => self.expr(what)?,
                    None => ResolvedExpr::literal(" "),
                };
                Ok(ResolvedExpr::call(
                    "TRIM",
                    [symbol(side), what, self.expr(expr)?],
                )?)
            }
            Expr::Overlay {
                expr,
                overlay_what,
                overlay_from,
                overlay_for,
            } => {
                let mut args: Vec<&Expr> = vec![expr, overlay_what, overlay_from];
                args.extend(overlay_for.as_deref());
                self.call("OVERLAY", &args)
            }
            Expr::Array(array) => self.call("ARRAY", &array.elem.iter().collect::<Vec<_>>()),
            Expr::Tuple(parts) => self.call("ROW", &parts.iter().collect::<Vec<_>>()),
            Expr::Function(function) => {
                let name = function.name.to_string().replace('`', "").to_uppercase();
                let args: Vec<&Expr> = match &function.args {
                    FunctionArguments::List(list) if !list.clauses.is_empty() => {
                        return unsupported(function);
                    }
                    FunctionArguments::List(list) => list
                        .args
                        .iter()
                        .map(|arg| match arg {
                            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Ok(e),
                            other => unsupported(other),
                        })
                        .collect::<Result<_>>()?,
                    FunctionArguments::None => vec![],
                    other => return unsupported(other),
                };
                if let ("TIMESTAMPADD" | "TIMESTAMPDIFF", [Expr::Identifier(unit), rest @ ..]) =
                    (name.as_str(), args.as_slice())
                {
                    let mut resolved = vec![symbol(&unit.value)];
                    for arg in rest {
                        resolved.push(self.expr(arg)?);
                    }
                    return Ok(ResolvedExpr::call(&name, resolved)?);
                }
                self.call(&name, &args)
            }
            other => unsupported(other),
        }
    }

    fn rounded(&self, name: &str, expr: &Expr, field: &CeilFloorKind) -> Result<ResolvedExpr> {
        let value = self.expr(expr)?;
        match field {
            CeilFloorKind::DateTimeField(sqlparser::ast::DateTimeField::NoDateTime) => {
                Ok(ResolvedExpr::call(name, [value])?)
            }
            CeilFloorKind::DateTimeField(field) => {
                Ok(ResolvedExpr::call(name, [value, symbol(field)])?)
            }
            other => unsupported(format!("{other:?}")),
        }
    }
}

fn parse_type(text: &str) -> Result<DataType> {
    // sqlparser prints some types in a dialect of its own.
    let text = text.replace("VARBINARY(2147483647)", "BYTES");
    DataType::from_str(&text).or_else(unsupported)
}

fn negated(value: ResolvedExpr) -> Result<ResolvedExpr> {
    // A sign before a number belongs to the literal.
    let literal = match value.as_literal() {
        Some(Value::Int(v)) => Some(Value::Int(v.wrapping_neg())),
        Some(Value::BigInt(v)) if *v == 1 << 31 => Some(Value::Int(i32::MIN)),
        Some(Value::BigInt(v)) => Some(Value::BigInt(v.wrapping_neg())),
        Some(Value::Decimal(v)) => {
            let negative = -v.unscaled();
            match i64::try_from(negative) {
                Ok(number) if v.scale() == 0 => Some(Value::BigInt(number)),
                _ => Some(Value::Decimal(Decimal::new(negative, v.scale()))),
            }
        }
        _ => None,
    };
    match literal {
        Some(value) => Ok(ResolvedExpr::literal(value)),
        None => Ok(ResolvedExpr::call("-", [value])?),
    }
}

fn literal(value: &SqlValue) -> Result<ResolvedExpr> {
    Ok(match value {
        SqlValue::Null => ResolvedExpr::null(),
        SqlValue::Boolean(v) => ResolvedExpr::literal(*v),
        SqlValue::SingleQuotedString(v) => ResolvedExpr::literal(v.as_str()),
        SqlValue::HexStringLiteral(v) => {
            let bytes = super::values::hex(v).map_or_else(|| unsupported(v), Ok)?;
            ResolvedExpr::literal(bytes)
        }
        SqlValue::Number(text, _) => {
            if text.contains(['e', 'E']) {
                ResolvedExpr::literal(text.parse::<f64>().or_else(unsupported)?)
            } else if let Ok(v) = text.parse::<i32>() {
                ResolvedExpr::literal(v)
            } else if let Ok(v) = text.parse::<i64>() {
                ResolvedExpr::literal(v)
            } else {
                ResolvedExpr::literal(text.parse::<Decimal>().or_else(unsupported)?)
            }
        }
        other => return unsupported(other),
    })
}

fn typed_string(text: &str, data_type: &DataType) -> Result<ResolvedExpr> {
    let value = match data_type.logical {
        LogicalType::Date => temporal::parse_date(text).map(Value::Date),
        LogicalType::Time(_) => temporal::parse_time(text).map(Value::Time),
        LogicalType::Timestamp(_) => temporal::parse_timestamp(text).map(Value::Timestamp),
        _ => None,
    };
    let Some(value) = value else {
        return unsupported(format!("{data_type} '{text}'"));
    };
    let digits = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len().min(9) as u8);
    let data_type = match data_type.logical {
        LogicalType::Timestamp(_) => DataTypes::timestamp(digits),
        LogicalType::Time(_) => DataTypes::time(digits),
        _ => data_type.clone(),
    };
    Ok(ResolvedExpr::typed_literal(value, data_type.not_null()))
}

fn interval_literal(interval: &Interval) -> Result<ResolvedExpr> {
    let Expr::Value(value) = interval.value.as_ref() else {
        return unsupported(interval);
    };
    let SqlValue::SingleQuotedString(text) = &value.value else {
        return unsupported(interval);
    };
    let first = interval
        .leading_field
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let last = interval.last_field.as_ref().map(ToString::to_string);
    let (negative, text) = match text.trim().strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim()),
    };
    let numbers = |separators: &[char]| -> Option<Vec<f64>> {
        text.split(separators)
            .map(|part| part.parse().ok())
            .collect()
    };
    if first.starts_with("YEAR") || first.starts_with("MONTH") {
        let Some(parts) = numbers(&['-']) else {
            return unsupported(interval);
        };
        let months = match (first.as_str(), parts.as_slice()) {
            (f, [n]) if f.starts_with("YEAR") => n * 12.0,
            (_, [n]) => *n,
            (_, [years, months]) => years * 12.0 + months,
            _ => return unsupported(interval),
        };
        return Ok(ResolvedExpr::literal(Value::IntervalYearMonth(
            negative * months as i32,
        )));
    }
    const UNITS: [(&str, f64); 4] = [
        ("DAY", 86_400_000.0),
        ("HOUR", 3_600_000.0),
        ("MINUTE", 60_000.0),
        ("SECOND", 1000.0),
    ];
    let Some(start) = UNITS.iter().position(|(name, _)| first.starts_with(name)) else {
        return unsupported(interval);
    };
    let Some(parts) = numbers(&[' ', ':']) else {
        return unsupported(interval);
    };
    if parts.len() > 1 && last.is_none() || start + parts.len() > UNITS.len() {
        return unsupported(interval);
    }
    let millis: f64 = parts
        .iter()
        .zip(&UNITS[start..])
        .map(|(n, (_, unit))| n * unit)
        .sum();
    Ok(ResolvedExpr::literal(Value::IntervalDayTime(
        i64::from(negative) * millis.round() as i64,
    )))
}

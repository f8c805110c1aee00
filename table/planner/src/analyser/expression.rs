//! Scalar expressions: AST to typed trees over the columns in reach.

use std::collections::BTreeMap;

use aquifer_functions::FunctionError;
use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::{Result, TableError, ValidationErrorKind};
use aquifer_types::{DataType, LogicalType, Value};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, CeilFloorKind, DateTimeField, Expr, Ident, InTarget,
    Subscript, TrimWhereField, UnaryOperator, Value as SqlValue,
};
use sqlparser::tokenizer::Span;

use super::Analyser;
use super::aggregate::PendingAggregate;
use super::begin::begin_of_expr;
use super::scope::Scope;

/// Resolves the expressions of one clause.
pub(super) struct Resolver<'s, 'a> {
    pub(super) analyser: &'s Analyser<'a>,
    pub(super) scope: &'s Scope,
    /// The clause, for messages.
    pub(super) clause: &'static str,
    /// Where aggregates are collected; none where they may not stand. The value of aggregate `j` is
    /// the column after the scope's columns with index `j`.
    pub(super) aggregates: Option<Vec<PendingAggregate>>,
    /// Whether the query has GROUP BY.
    pub(super) has_groups: bool,
    /// Where each column was first named.
    pub(super) places: BTreeMap<usize, Span>,
}

impl<'s, 'a> Resolver<'s, 'a> {
    /// A resolver of a clause without aggregates.
    pub(super) fn new(analyser: &'s Analyser<'a>, scope: &'s Scope, clause: &'static str) -> Self {
        Resolver {
            analyser,
            scope,
            clause,
            aggregates: None,
            has_groups: false,
            places: BTreeMap::new(),
        }
    }

    /// A resolver of clauses in which aggregates may stand.
    pub(super) fn with_aggregates(
        analyser: &'s Analyser<'a>,
        scope: &'s Scope,
        has_groups: bool,
    ) -> Self {
        let mut resolver = Resolver::new(analyser, scope, "SELECT");
        resolver.aggregates = Some(Vec::new());
        resolver.has_groups = has_groups;
        resolver
    }

    /// A BOOLEAN expression.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<ResolvedExpr> {
        let resolved = self.expr(expr)?;
        match resolved.data_type().logical {
            LogicalType::Boolean => Ok(resolved),
            LogicalType::Null => self.cast(
                resolved,
                aquifer_types::DataTypes::boolean(),
                begin_of_expr(expr),
            ),
            _ => {
                let what = format!("the condition of {}", self.clause);
                Err(self.analyser.mismatch(
                    what,
                    "BOOLEAN",
                    resolved.data_type(),
                    begin_of_expr(expr),
                ))
            }
        }
    }

    /// Any expression. Grows the stack as needed, because expressions nest as users like.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<ResolvedExpr> {
        stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || self.expr_inner(expr))
    }

    fn expr_inner(&mut self, expr: &Expr) -> Result<ResolvedExpr> {
        let span = begin_of_expr(expr);
        match expr {
            Expr::Identifier(ident) => self.column(std::slice::from_ref(ident), span),
            Expr::CompoundIdentifier(parts) => self.column(parts, span),
            Expr::CompoundFieldAccess { root, access_chain } => {
                self.access(root, access_chain, span)
            }
            Expr::Nested(inner) => self.expr(inner),
            Expr::Value(value) => self.analyser.literal(value),
            Expr::TypedString(typed) => self.analyser.typed_string(typed),
            Expr::Interval(interval) => self.analyser.interval(interval),
            Expr::UnaryOp { op, expr: operand } => self.unary(*op, operand, span),
            Expr::BinaryOp {
                op: BinaryOperator::And,
                ..
            } => self.logical(expr, &BinaryOperator::And),
            Expr::BinaryOp {
                op: BinaryOperator::Or,
                ..
            } => self.logical(expr, &BinaryOperator::Or),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right, span),
            Expr::IsNull(e) => self.call_of("IS NULL", &[e], span),
            Expr::IsNotNull(e) => self.call_of("IS NOT NULL", &[e], span),
            Expr::IsTrue(e) => self.call_of("IS TRUE", &[e], span),
            Expr::IsNotTrue(e) => self.call_of("IS NOT TRUE", &[e], span),
            Expr::IsFalse(e) => self.call_of("IS FALSE", &[e], span),
            Expr::IsNotFalse(e) => self.call_of("IS NOT FALSE", &[e], span),
            Expr::IsUnknown(e) => self.call_of("IS NULL", &[e], span),
            Expr::IsNotUnknown(e) => self.call_of("IS NOT NULL", &[e], span),
            Expr::IsDistinctFrom(a, b) => self.call_of("IS DISTINCT FROM", &[a, b], span),
            Expr::IsNotDistinctFrom(a, b) => self.call_of("IS NOT DISTINCT FROM", &[a, b], span),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let between = self.call_of("BETWEEN", &[expr, low, high], span)?;
                self.negate_if(*negated, between, span)
            }
            Expr::In {
                expr,
                target: InTarget::List(list),
                negated,
                ..
            } => {
                let mut args = vec![expr.as_ref()];
                args.extend(list);
                let found = self.call_of("IN", &args, span)?;
                self.negate_if(*negated, found, span)
            }
            Expr::In { .. } => Err(self.analyser.unsupported("IN with a sub-query", span)),
            Expr::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => self.pattern(
                "LIKE",
                *negated,
                expr,
                pattern,
                escape_char.as_deref(),
                span,
            ),
            Expr::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => self.pattern(
                "SIMILAR TO",
                *negated,
                expr,
                pattern,
                escape_char.as_deref(),
                span,
            ),
            Expr::Cast {
                kind: kind @ (CastKind::Cast | CastKind::TryCast),
                expr,
                data_type,
                format: None,
            } => {
                let to = self.data_type(data_type, span)?;
                let value = self.expr(expr)?;
                if *kind == CastKind::TryCast {
                    value.try_cast(to).map_err(|e| self.function_error(e, span))
                } else {
                    self.cast(value, to, span)
                }
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => {
                let operand = operand.as_ref().map(|e| self.expr(e)).transpose()?;
                let mut branches = Vec::with_capacity(conditions.len());
                for when in conditions {
                    let condition = match &operand {
                        Some(operand) => {
                            let value = self.expr(&when.condition)?;
                            self.call(
                                "=",
                                [operand.clone(), value],
                                begin_of_expr(&when.condition),
                            )?
                        }
                        None => self.expr(&when.condition)?,
                    };
                    branches.push((condition, self.expr(&when.result)?));
                }
                let otherwise = else_result.as_ref().map(|e| self.expr(e)).transpose()?;
                ResolvedExpr::case(branches, otherwise).map_err(|e| self.function_error(e, span))
            }
            Expr::Extract { field, expr, .. } => {
                let value = self.expr(expr)?;
                self.call("EXTRACT", [symbol(&field.to_string()), value], span)
            }
            Expr::Floor { expr, field } => self.rounded("FLOOR", expr, field, span),
            Expr::Ceil { expr, field } => self.rounded("CEIL", expr, field, span),
            Expr::Position { expr, r#in } => self.call_of("POSITION", &[expr, r#in], span),
            Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                let Some(from) = substring_from else {
                    return Err(self.analyser.unsupported("SUBSTRING without a begin", span));
                };
                let mut args: Vec<&Expr> = vec![expr, from];
                args.extend(substring_for.as_deref());
                self.call_of("SUBSTRING", &args, span)
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
                let value = self.expr(expr)?;
                let what = match trim_what {
                    Some(what) => self.expr(what)?,
                    None => ResolvedExpr::literal(Value::String(" ".to_string())),
                };
                self.call("TRIM", [symbol(side), what, value], span)
            }
            Expr::Overlay {
                expr,
                overlay_what,
                overlay_from,
                overlay_for,
            } => {
                let mut args: Vec<&Expr> = vec![expr, overlay_what, overlay_from];
                args.extend(overlay_for.as_deref());
                self.call_of("OVERLAY", &args, span)
            }
            Expr::Function(function) => self.function(function, span),
            Expr::Array(array) => {
                self.call_of("ARRAY", &array.elem.iter().collect::<Vec<_>>(), span)
            }
            Expr::Tuple(values) => self.call_of("ROW", &values.iter().collect::<Vec<_>>(), span),
            Expr::Subquery(_) => Err(self.analyser.unsupported("a sub-query as a value", span)),
            Expr::Exists { .. } => Err(self.analyser.unsupported("EXISTS", span)),
            Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_) => Err(self
                .analyser
                .unsupported("GROUPING SETS (or CUBE, ROLLUP)", span)),
            other => Err(self.analyser.unsupported(
                format!("the expression {}", shorten(&other.to_string())),
                span,
            )),
        }
    }

    fn column(&mut self, parts: &[Ident], span: Span) -> Result<ResolvedExpr> {
        let names: Vec<String> = parts.iter().map(|p| p.value.clone()).collect();
        let (mut value, used) = self
            .scope
            .find(&names)
            .map_err(|e| self.analyser.invalid(e, span))?;
        if let Some(index) = value.as_input() {
            self.places.entry(index).or_insert(span);
        }
        for name in &names[used..] {
            value = self.field(value, name, span)?;
        }
        Ok(value)
    }

    /// A field of a ROW.
    fn field(&mut self, value: ResolvedExpr, name: &str, span: Span) -> Result<ResolvedExpr> {
        let Some(fields) = value.data_type().fields() else {
            let what = format!("the value whose field '{name}' is taken");
            return Err(self.analyser.mismatch(what, "ROW", value.data_type(), span));
        };
        if !fields.iter().any(|f| f.name == name) {
            let kind = ValidationErrorKind::UnknownColumn {
                column: name.to_string(),
                tables: Vec::new(),
                candidates: fields.iter().map(|f| f.name.clone()).collect(),
            };
            return Err(self.analyser.invalid(kind, span));
        }
        self.call("FIELD", [value, symbol(name)], span)
    }

    fn access(&mut self, root: &Expr, chain: &[AccessExpr], span: Span) -> Result<ResolvedExpr> {
        // `t.a[1]` parses as an access to `t`: the leading names belong together.
        let mut names: Vec<Ident> = Vec::new();
        let mut chain = chain;
        if let Expr::Identifier(ident) = root {
            names.push(ident.clone());
            while let [AccessExpr::Dot(Expr::Identifier(ident)), rest @ ..] = chain {
                names.push(ident.clone());
                chain = rest;
            }
        }
        let mut value = if names.is_empty() {
            self.expr(root)?
        } else {
            self.column(&names, span)?
        };
        for access in chain {
            value = match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => {
                    self.field(value, &ident.value, span)?
                }
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    let index = self.expr(index)?;
                    self.call("ITEM", [value, index], span)?
                }
                _ => {
                    return Err(self
                        .analyser
                        .unsupported("this access to a part of a value", span));
                }
            };
        }
        Ok(value)
    }

    fn unary(&mut self, op: UnaryOperator, operand: &Expr, span: Span) -> Result<ResolvedExpr> {
        match op {
            UnaryOperator::Not => self.call_of("NOT", &[operand], span),
            UnaryOperator::Plus => self.call_of("+", &[operand], span),
            UnaryOperator::Minus => {
                // The smallest BIGINT has no positive counterpart.
                if let Expr::Value(value) = operand
                    && let SqlValue::Number(text, _) = &value.value
                    && let Ok(number) = format!("-{text}").parse::<i64>()
                {
                    return Ok(match i32::try_from(number) {
                        Ok(small) => ResolvedExpr::literal(small),
                        Err(_) => ResolvedExpr::literal(number),
                    });
                }
                self.call_of("-", &[operand], span)
            }
            other => Err(self
                .analyser
                .unsupported(format!("the operator {other}"), span)),
        }
    }

    fn binary(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let name = match op {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::StringConcat => "||",
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            other => {
                return Err(self
                    .analyser
                    .unsupported(format!("the operator {other}"), span));
            }
        };
        self.call_of(name, &[left, right], span)
    }

    /// A chain of AND or OR as a balanced tree, so that long chains stay shallow.
    fn logical(&mut self, expr: &Expr, op: &BinaryOperator) -> Result<ResolvedExpr> {
        let mut operands = Vec::new();
        let mut rest = expr;
        while let Expr::BinaryOp {
            left,
            op: found,
            right,
        } = rest
            && found == op
        {
            operands.push(right.as_ref());
            rest = left;
        }
        operands.push(rest);
        let mut resolved: Vec<(ResolvedExpr, Span)> = Vec::with_capacity(operands.len());
        for operand in operands.into_iter().rev() {
            resolved.push((self.expr(operand)?, begin_of_expr(operand)));
        }
        let name = if *op == BinaryOperator::And {
            "AND"
        } else {
            "OR"
        };
        while resolved.len() > 1 {
            let mut next = Vec::with_capacity(resolved.len().div_ceil(2));
            let mut pairs = resolved.into_iter();
            while let Some((left, span)) = pairs.next() {
                next.push(match pairs.next() {
                    Some((right, _)) => (self.call(name, [left, right], span)?, span),
                    None => (left, span),
                });
            }
            resolved = next;
        }
        Ok(resolved.pop().expect("a chain has operands").0)
    }

    fn pattern(
        &mut self,
        name: &str,
        negated: bool,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let mut args = vec![expr, pattern];
        args.extend(escape);
        let found = self.call_of(name, &args, span)?;
        self.negate_if(negated, found, span)
    }

    fn rounded(
        &mut self,
        name: &str,
        expr: &Expr,
        field: &CeilFloorKind,
        span: Span,
    ) -> Result<ResolvedExpr> {
        let value = self.expr(expr)?;
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {
                self.call(name, [value], span)
            }
            CeilFloorKind::DateTimeField(unit) => {
                self.call(name, [value, symbol(&unit.to_string())], span)
            }
            CeilFloorKind::Scale(_) => Err(self
                .analyser
                .unsupported(format!("{name} with a scale"), span)),
        }
    }

    fn negate_if(
        &mut self,
        negated: bool,
        value: ResolvedExpr,
        span: Span,
    ) -> Result<ResolvedExpr> {
        if negated {
            self.call("NOT", [value], span)
        } else {
            Ok(value)
        }
    }

    /// A call over AST arguments.
    fn call_of(&mut self, name: &str, args: &[&Expr], span: Span) -> Result<ResolvedExpr> {
        let args = args
            .iter()
            .map(|e| self.expr(e))
            .collect::<Result<Vec<_>>>()?;
        self.call(name, args, span)
    }

    /// A call over resolved arguments.
    pub(super) fn call(
        &self,
        name: &str,
        args: impl IntoIterator<Item = ResolvedExpr>,
        span: Span,
    ) -> Result<ResolvedExpr> {
        ResolvedExpr::call(name, args).map_err(|e| self.function_error(e, span))
    }

    pub(super) fn cast(
        &self,
        value: ResolvedExpr,
        to: DataType,
        span: Span,
    ) -> Result<ResolvedExpr> {
        value.cast(to).map_err(|e| self.function_error(e, span))
    }

    pub(super) fn function_error(&self, error: FunctionError, span: Span) -> TableError {
        TableError::from(error).at(self.analyser.place(span))
    }

    /// A type in CAST.
    fn data_type(&self, data_type: &sqlparser::ast::DataType, span: Span) -> Result<DataType> {
        let text = match data_type {
            sqlparser::ast::DataType::Custom(name, _) => {
                match name.0.first().and_then(|p| p.as_ident()) {
                    Some(ident) => ident.value.clone(),
                    None => name.to_string(),
                }
            }
            other => other.to_string(),
        };
        text.parse::<DataType>()
            .map_err(|e| TableError::from(e).at(self.analyser.place(span)))
    }
}

/// A word that a function takes as such, for example a time unit.
pub(super) fn symbol(word: &str) -> ResolvedExpr {
    ResolvedExpr::literal(Value::String(word.to_string()))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

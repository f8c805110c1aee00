//! Constant folding: what no row decides is computed once.
//!
//! A constant that fails is left as it is, so that it fails only if a row needs it.

use aquifer_types::{Value, column_value};

use super::compile::Compiler;
use super::frame::Frame;
use super::program::Evaluator;
use crate::context::EvalContext;
use crate::definition::{Implementation, Volatility};
use crate::expression::ResolvedExpr;
use crate::scalar::find_function;

/// Returns an equal expression whose constant parts are literals of the same type.
#[must_use]
pub fn fold_constants(expr: ResolvedExpr) -> ResolvedExpr {
    expr.transform(&mut fold_node)
}

/// Folds a node whose children are folded.
fn fold_node(node: ResolvedExpr) -> ResolvedExpr {
    let constant = match &node {
        ResolvedExpr::Call { function, args, .. } => {
            find_function(function).is_ok_and(|f| f.volatility() == Volatility::Immutable)
                && args.iter().all(|a| a.as_literal().is_some())
        }
        // A cast may depend on the session's time zone.
        ResolvedExpr::Cast {
            expr, data_type, ..
        } => {
            expr.as_literal().is_some()
                && !depends_on_zone(expr.data_type())
                && !depends_on_zone(data_type)
        }
        _ => false,
    };
    if constant {
        return run(&node).unwrap_or(node);
    }
    simplify(node)
}

fn depends_on_zone(data_type: &aquifer_types::DataType) -> bool {
    data_type.to_string().contains("TIMESTAMP_LTZ")
}

/// Evaluates a constant node.
fn run(node: &ResolvedExpr) -> Option<ResolvedExpr> {
    // The zone decides about calls on instants too.
    if depends_on_zone(node.data_type())
        || node
            .children()
            .iter()
            .any(|c| depends_on_zone(c.data_type()))
    {
        return None;
    }
    let mut compiler = Compiler::default();
    let root = compiler.add(node).ok()?;
    let evaluator = Evaluator::from_nodes(compiler.into_nodes(), root);
    let context = EvalContext::default();
    let column = Frame::new(&evaluator, &[], 1, &context)
        .column(root)
        .ok()?
        .into_array(1)
        .ok()?;
    let data_type = node.data_type().clone();
    let value = column_value(column.as_ref(), 0, &data_type);
    Some(ResolvedExpr::Literal { value, data_type })
}

/// Drops branches and conditions that are decided already.
fn simplify(node: ResolvedExpr) -> ResolvedExpr {
    match node {
        ResolvedExpr::Case {
            branches,
            otherwise,
            data_type,
        } => {
            let mut kept = Vec::with_capacity(branches.len());
            let mut last = otherwise;
            for (condition, result) in branches {
                match condition.as_literal() {
                    Some(Value::Boolean(true)) => {
                        last = Box::new(result);
                        break;
                    }
                    Some(_) => {}
                    None => kept.push((condition, result)),
                }
            }
            if kept.is_empty() && last.data_type() == &data_type {
                return *last;
            }
            ResolvedExpr::Case {
                branches: kept,
                otherwise: last,
                data_type,
            }
        }
        ResolvedExpr::Call {
            function,
            args,
            data_type,
        } => {
            let stop = match find_function(&function).map(|f| f.implementation()) {
                Ok(Implementation::And) => false,
                Ok(Implementation::Or) => true,
                _ => {
                    return ResolvedExpr::Call {
                        function,
                        args,
                        data_type,
                    };
                }
            };
            let is = |arg: &ResolvedExpr, value: bool| {
                arg.as_literal().and_then(Value::as_bool) == Some(value)
            };
            // What comes after a deciding literal is never evaluated.
            let mut kept: Vec<ResolvedExpr> = Vec::with_capacity(args.len());
            for arg in args {
                if is(&arg, !stop) {
                    continue;
                }
                let decides = is(&arg, stop);
                kept.push(arg);
                if decides {
                    break;
                }
            }
            match kept.as_slice() {
                [] => ResolvedExpr::Literal {
                    value: Value::Boolean(!stop),
                    data_type,
                },
                [first, ..] if is(first, stop) => ResolvedExpr::Literal {
                    value: Value::Boolean(stop),
                    data_type,
                },
                [one] if one.data_type() == &data_type => one.clone(),
                _ => ResolvedExpr::Call {
                    function,
                    args: kept,
                    data_type,
                },
            }
        }
        other => other,
    }
}

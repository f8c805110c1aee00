//! From tree to graph.

use std::collections::HashMap;

use aquifer_types::{DataType, LogicalType, Value, scalar_array};

use super::fold::fold_constants;
use super::program::{Node, NodeId, Operation};
use crate::cast;
use crate::column::Column;
use crate::definition::{Implementation, KernelArgs, Volatility};
use crate::error::Result;
use crate::expression::ResolvedExpr;
use crate::expression::with_stack;
use crate::scalar::find_function;

#[derive(Default)]
pub(super) struct Compiler {
    nodes: Vec<Node>,
    /// Nodes by the expression they compute; expressions that differ from row to row are not in it.
    known: HashMap<ResolvedExpr, NodeId>,
}

impl Compiler {
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    pub(super) fn add_root(&mut self, expr: &ResolvedExpr) -> Result<NodeId> {
        self.add(&fold_constants(expr.clone()))
    }

    /// Compiles without folding, which folding itself needs.
    pub(super) fn add(&mut self, expr: &ResolvedExpr) -> Result<NodeId> {
        let shared = expr.volatility() < Volatility::Row;
        if shared && let Some(node) = self.known.get(expr) {
            return Ok(*node);
        }
        let node = with_stack(|| self.build(expr))?;
        if shared {
            self.known.insert(expr.clone(), node);
        }
        Ok(node)
    }

    fn push(&mut self, operation: Operation, data_type: &DataType, selective: bool) -> NodeId {
        self.nodes.push(Node {
            operation,
            data_type: data_type.clone(),
            selective,
        });
        self.nodes.len() - 1
    }

    fn add_all<'a>(
        &mut self,
        exprs: impl IntoIterator<Item = &'a ResolvedExpr>,
    ) -> Result<Vec<NodeId>> {
        exprs.into_iter().map(|e| self.add(e)).collect()
    }

    fn any_selective(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|n| self.nodes[*n].selective)
    }

    fn build(&mut self, expr: &ResolvedExpr) -> Result<NodeId> {
        match expr {
            ResolvedExpr::Literal { value, data_type } => {
                let column = Column::Scalar(scalar_array(value, data_type)?);
                Ok(self.push(Operation::Literal(column), data_type, false))
            }
            ResolvedExpr::InputRef { index, data_type } => {
                Ok(self.push(Operation::Input(*index), data_type, false))
            }
            ResolvedExpr::Cast {
                expr: inner,
                data_type,
                try_,
            } => {
                let from = inner.data_type();
                let cast = cast::compile(from, data_type)?;
                let input = self.add(inner)?;
                // Text can hold what is no value of another type, and timestamps in nanoseconds have
                // a narrower range than others.
                let narrows = matches!(
                    data_type.logical,
                    LogicalType::Timestamp(7..) | LogicalType::TimestampLtz(7..)
                );
                let fails = !try_
                    && (narrows
                        || !aquifer_types::supports_implicit_cast(from, &data_type.clone().null()));
                let selective = fails || self.nodes[input].selective;
                let operation = Operation::Cast {
                    cast,
                    input,
                    try_: *try_,
                };
                Ok(self.push(operation, data_type, selective))
            }
            ResolvedExpr::Case {
                branches,
                otherwise,
                data_type,
            } => {
                let branches: Vec<(NodeId, NodeId)> = branches
                    .iter()
                    .map(|(c, r)| Ok((self.add(c)?, self.add(r)?)))
                    .collect::<Result<_>>()?;
                let otherwise = self.add(otherwise)?;
                let parts: Vec<NodeId> = branches
                    .iter()
                    .flat_map(|(c, r)| [*c, *r])
                    .chain([otherwise])
                    .collect();
                let selective = self.any_selective(&parts);
                Ok(self.push(
                    Operation::Case {
                        branches,
                        otherwise,
                    },
                    data_type,
                    selective,
                ))
            }
            ResolvedExpr::Call {
                function,
                args,
                data_type,
            } => self.build_call(function, args, data_type),
        }
    }

    fn build_call(
        &mut self,
        name: &str,
        args: &[ResolvedExpr],
        data_type: &DataType,
    ) -> Result<NodeId> {
        let function = find_function(name)?;
        let operation = match function.implementation() {
            Implementation::Rewrite(rewrite) => return self.add(&rewrite(args, data_type)?),
            Implementation::And => Operation::Logic {
                args: self.add_all(args)?,
                stop: false,
            },
            Implementation::Or => Operation::Logic {
                args: self.add_all(args)?,
                stop: true,
            },
            Implementation::Coalesce => Operation::Coalesce {
                args: self.add_all(args)?,
            },
            Implementation::Kernel(make) => {
                let types: Vec<DataType> = args.iter().map(|a| a.data_type().clone()).collect();
                let literals: Vec<Option<Value>> =
                    args.iter().map(|a| a.as_literal().cloned()).collect();
                let kernel = make(&KernelArgs {
                    types: &types,
                    literals: &literals,
                    result: data_type,
                })
                .map_err(|e| e.named(name))?;
                Operation::Call {
                    function: name.to_owned(),
                    kernel,
                    args: self.add_all(args)?,
                    per_row: function.volatility() == Volatility::Row,
                }
            }
        };
        let below = match &operation {
            Operation::Call { args, .. }
            | Operation::Logic { args, .. }
            | Operation::Coalesce { args } => self.any_selective(args),
            _ => false,
        };
        let selective = below || function.is_fallible() || function.volatility() == Volatility::Row;
        Ok(self.push(operation, data_type, selective))
    }
}

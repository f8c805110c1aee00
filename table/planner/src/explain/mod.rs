//! Plans as text, for people.
//!
//! Three stages: the operations as written, the plan with each statement by itself, and the plan as
//! it runs, where common parts are shown once. Node ids start at 1 in every text, so that it does
//! not depend on what was planned before.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicU32;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{
    ExplainDetail, ExplainFormat, ModifyOperation, Operation, QueryOperation,
};
use aquifer_table_common::{Result, ValidationErrorKind};
use aquifer_types::Field;

use crate::exec::{
    Distribution, ExecNode, ExecNodeGraph, ExecNodeKind, describe_call, window_text,
};
use crate::planner::plan_with;

/// The plans of statements that run as one job.
///
/// # Errors
/// What planning finds; `validation.wrong_statement` for a statement that has no plan.
pub fn explain(
    operations: &[Operation],
    format: ExplainFormat,
    details: &[ExplainDetail],
) -> Result<String> {
    let mut modify = Vec::new();
    for operation in operations {
        match operation {
            Operation::Query(child) => modify.push(ModifyOperation::Collect {
                child: child.clone(),
            }),
            Operation::Modify(operation) => modify.push(operation.clone()),
            Operation::StatementSet(inserts) => modify.extend(inserts.iter().cloned()),
            Operation::Explain(inner) => return explain(&inner.operations, format, details),
            other => {
                return Err(ValidationErrorKind::WrongStatement {
                    expected: "a query or an INSERT".to_string(),
                    found: other.summary(),
                }
                .into());
            }
        }
    }
    let graph = plan_with(&modify, &AtomicU32::new(1))?;
    if format == ExplainFormat::Json {
        return graph.to_json();
    }
    let mut text = String::from("== Abstract Syntax Tree ==\n");
    for operation in &modify {
        text.push_str(&operation_tree(operation));
        text.push('\n');
    }
    let shows_mode = details.contains(&ExplainDetail::ChangelogMode);
    text.push_str("== Optimized Physical Plan ==\n");
    for root in &graph.roots {
        Printer::new(&graph, shows_mode, false).print(*root, &mut text)?;
        text.push('\n');
    }
    text.push_str("== Optimized Execution Plan ==\n");
    let mut printer = Printer::new(&graph, shows_mode, true);
    for root in &graph.roots {
        printer.print(*root, &mut text)?;
        text.push('\n');
    }
    if details.contains(&ExplainDetail::JsonExecutionPlan) {
        text.push_str("== Physical Execution Plan ==\n");
        text.push_str(&graph.to_json()?);
        text.push('\n');
    }
    Ok(text)
}

/// Where a line stands in its tree.
#[derive(Clone, Default)]
struct Indent {
    prefix: String,
    is_last: bool,
    depth: usize,
}

impl Indent {
    fn child(&self, is_last: bool) -> Indent {
        let mut prefix = self.prefix.clone();
        if self.depth > 0 {
            prefix.push_str(if self.is_last { "   " } else { ":  " });
        }
        Indent {
            prefix,
            is_last,
            depth: self.depth + 1,
        }
    }

    fn line(&self, text: &mut String, line: &str) {
        let mark = match (self.depth, self.is_last) {
            (0, _) => "",
            (_, true) => "+- ",
            (_, false) => ":- ",
        };
        let _ = writeln!(text, "{}{mark}{line}", self.prefix);
    }
}

/// A statement's operations as an indented tree.
pub fn operation_tree(operation: &ModifyOperation) -> String {
    let mut text = String::new();
    let indent = Indent::default();
    match operation {
        ModifyOperation::Sink { table, child, .. } => {
            let fields: Vec<String> = child.fields().into_iter().map(|f| f.name).collect();
            let id = table.table.identifier.to_summary_string();
            indent.line(
                &mut text,
                &format!("LogicalSink(table=[{id}], fields=[{}])", fields.join(", ")),
            );
            query_lines(child, &indent.child(true), &mut text);
        }
        ModifyOperation::Collect { child } | ModifyOperation::OutputConversion { child, .. } => {
            query_lines(child, &indent, &mut text);
        }
    }
    text
}

/// A query's operations as an indented tree.
pub fn query_tree(operation: &QueryOperation) -> String {
    let mut text = String::new();
    query_lines(operation, &Indent::default(), &mut text);
    text
}

fn query_lines(operation: &QueryOperation, indent: &Indent, text: &mut String) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        indent.line(text, &query_line(operation));
        let children = operation.children();
        for (index, child) in children.iter().enumerate() {
            query_lines(child, &indent.child(index + 1 == children.len()), text);
        }
    });
}

fn query_line(operation: &QueryOperation) -> String {
    let names = |fields: &[Field]| {
        fields
            .iter()
            .map(|f| f.name.clone())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match operation {
        QueryOperation::Source(q) => {
            let id = &q.table.identifier;
            format!(
                "LogicalTableScan(table=[[{}, {}, {}]])",
                id.catalog, id.database, id.object
            )
        }
        QueryOperation::DataStream(q) => {
            format!(
                "LogicalDataStreamScan(stream=[{}])",
                q.uid.as_ref().unwrap_or(&q.name)
            )
        }
        QueryOperation::Values(q) => {
            let rows: Vec<String> = q
                .rows
                .iter()
                .take(5)
                .map(|row| format!("{{ {} }}", expressions(row)))
                .collect();
            let more = if q.rows.len() > 5 { ", ..." } else { "" };
            format!("LogicalValues(tuples=[[{}{more}]])", rows.join(", "))
        }
        QueryOperation::Project(q) => {
            let columns: Vec<String> = q
                .fields
                .iter()
                .zip(&q.expressions)
                .map(|(f, e)| format!("{}=[{e}]", f.name))
                .collect();
            format!("LogicalProject({})", columns.join(", "))
        }
        QueryOperation::Filter(q) => format!("LogicalFilter(condition=[{}])", q.condition),
        QueryOperation::Aggregate(q) => {
            let input = q.input.fields();
            let groups: Vec<String> = q.grouping.iter().map(ToString::to_string).collect();
            let mut parts = vec![format!("group=[{{{}}}]", groups.join(", "))];
            parts.extend(q.aggregates.iter().map(|call| describe_call(call, &input)));
            format!("LogicalAggregate({})", parts.join(", "))
        }
        QueryOperation::Join(q) => format!(
            "LogicalJoin(condition=[{}], joinType=[{}])",
            q.condition,
            q.join_type
                .name()
                .trim_end_matches("Join")
                .trim_end_matches("Outer")
                .to_lowercase()
                .replace("leftsemi", "semi")
                .replace("leftanti", "anti")
        ),
        QueryOperation::Distinct(q) => {
            format!("LogicalDistinct(fields=[{}])", names(&q.input.fields()))
        }
        QueryOperation::Set(_) => "LogicalUnion(all=[true])".to_string(),
        QueryOperation::Window(q) => {
            let fields = q.input.fields();
            format!(
                "LogicalWindow({}, timeCol=[{}])",
                window_text(&q.window),
                fields[q.column].name
            )
        }
        QueryOperation::Watermark(q) => {
            let fields = q.input.fields();
            format!(
                "LogicalWatermarkAssigner(rowtime=[{}], watermark=[{}])",
                fields[q.column].name, q.expression
            )
        }
    }
}

fn expressions(row: &[ResolvedExpr]) -> String {
    row.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Prints an execution plan; exchanges show as nodes of their own.
struct Printer<'a> {
    graph: &'a ExecNodeGraph,
    shows_mode: bool,
    /// The marks of nodes with several readers, where they are printed once.
    reuse: Option<BTreeMap<u32, usize>>,
    printed: Vec<u32>,
}

impl<'a> Printer<'a> {
    fn new(graph: &'a ExecNodeGraph, shows_mode: bool, shares: bool) -> Self {
        let mut readers: BTreeMap<u32, usize> = BTreeMap::new();
        for edge in graph.nodes.iter().flat_map(|n| &n.inputs) {
            *readers.entry(edge.source).or_default() += 1;
        }
        let shared = graph
            .nodes
            .iter()
            .filter(|n| readers.get(&n.id).is_some_and(|r| *r > 1));
        let marks = shared
            .enumerate()
            .map(|(mark, n)| (n.id, mark + 1))
            .collect();
        Printer {
            graph,
            shows_mode,
            reuse: shares.then_some(marks),
            printed: Vec::new(),
        }
    }

    fn print(&mut self, root: u32, text: &mut String) -> Result<()> {
        self.node(root, &Indent::default(), text)
    }

    fn node(&mut self, id: u32, indent: &Indent, text: &mut String) -> Result<()> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.node_inner(id, indent, text))
    }

    fn node_inner(&mut self, id: u32, indent: &Indent, text: &mut String) -> Result<()> {
        let node = self.graph.node(id)?;
        if let (ExecNodeKind::Output(_), [input]) = (&node.kind, node.inputs.as_slice()) {
            // The end of a query is no operation of its own.
            return self.node(input.source, indent, text);
        }
        let mark = self
            .reuse
            .as_ref()
            .and_then(|marks| marks.get(&id))
            .copied();
        if let Some(mark) = mark
            && self.printed.contains(&id)
        {
            indent.line(text, &format!("Reused(reference_id=[{mark}])"));
            return Ok(());
        }
        self.printed.push(id);
        let reuse = mark.map_or(String::new(), |mark| format!("(reuse_id=[{mark}])"));
        indent.line(
            text,
            &format!("{}{}{reuse}", node.description, self.mode(node)),
        );
        for (index, edge) in node.inputs.iter().enumerate() {
            let below = indent.child(index + 1 == node.inputs.len());
            let source = self.graph.node(edge.source)?;
            let distribution = match &edge.distribution {
                Distribution::Any => None,
                Distribution::Singleton => Some("single".to_string()),
                Distribution::Hash { keys } => {
                    let names: Vec<&str> = keys
                        .iter()
                        .map(|k| source.output[*k].name.as_str())
                        .collect();
                    Some(format!("hash[{}]", names.join(", ")))
                }
            };
            match distribution {
                None => self.node(edge.source, &below, text)?,
                Some(distribution) => {
                    below.line(
                        text,
                        &format!(
                            "Exchange(distribution=[{distribution}]){}",
                            self.mode(source)
                        ),
                    );
                    self.node(edge.source, &below.child(true), text)?;
                }
            }
        }
        Ok(())
    }

    fn mode(&self, node: &ExecNode) -> String {
        if !self.shows_mode {
            return String::new();
        }
        let mode = node.changelog_mode.to_string();
        format!("(changelogMode={mode})")
    }
}

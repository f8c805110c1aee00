//! Operations to nodes.
//!
//! Equal nodes over equal inputs are made once, so that statements of one set share their common
//! parts, and each table is scanned once with the columns that all its readers need: all parts of a
//! job see the same rows in the same epoch.

mod window;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::operation::{
    FilterQuery, JoinType, ModifyOperation, OutputMode, ProjectQuery, QueryOperation, SinkTable,
    SourceQuery,
};
use aquifer_table_common::{Result, UnsupportedError, ValidationErrorKind};
use aquifer_types::{ChangelogMode, Field};

use super::{
    Calc, ChangelogNormalize, DataStreamScan, Distribution, ExecEdge, ExecNode, ExecNodeGraph,
    ExecNodeKind, GroupAggregate, Join, Output, Sink, TableSourceScan, Union, Values,
    WatermarkAssigner, WindowTableFunction,
};
use crate::properties::{
    changelog_mode, is_append_only, update_cause, upsert_key, window_grouping,
};

/// Makes the nodes of a plan.
pub struct GraphBuilder<'a> {
    graph: ExecNodeGraph,
    ids: &'a AtomicU32,
    /// Per table the columns that the statements of this plan read.
    scans: BTreeMap<String, Vec<usize>>,
}

impl<'a> GraphBuilder<'a> {
    /// A builder that takes its ids from a counter, so that plans of one program never share one.
    pub fn new(ids: &'a AtomicU32) -> Self {
        GraphBuilder {
            graph: ExecNodeGraph::default(),
            ids,
            scans: BTreeMap::new(),
        }
    }

    /// The plan of optimised statements.
    ///
    /// # Errors
    /// `validation.updates_not_accepted` if a target cannot take a query's changes.
    pub fn build(mut self, operations: &[ModifyOperation]) -> Result<ExecNodeGraph> {
        for operation in operations {
            self.collect_scans(operation.child());
        }
        for operation in operations {
            let root = self.modify(operation)?;
            self.graph.roots.push(root);
        }
        Ok(self.graph)
    }

    fn collect_scans(&mut self, operation: &QueryOperation) {
        if let QueryOperation::Source(q) = operation {
            let columns = self.scans.entry(scan_key(q)).or_default();
            let mut needed = q.projection.clone();
            if q.changelog_mode.is_upsert() {
                needed.extend(source_key(q).unwrap_or_default());
            }
            for column in needed {
                if let Err(place) = columns.binary_search(&column) {
                    columns.insert(place, column);
                }
            }
        }
        for child in operation.children() {
            self.collect_scans(child);
        }
    }

    /// Adds a node, or finds an equal one. Nodes that are not deterministic, and roots, are never
    /// shared.
    fn add(
        &mut self,
        kind: ExecNodeKind,
        inputs: Vec<ExecEdge>,
        output: Vec<Field>,
        changelog_mode: ChangelogMode,
    ) -> Result<u32> {
        if is_shareable(&kind)
            && let Some(found) = self
                .graph
                .nodes
                .iter()
                .find(|n| n.kind == kind && n.inputs == inputs && n.output == output)
        {
            return Ok(found.id);
        }
        let input_fields: Vec<Vec<Field>> = inputs
            .iter()
            .map(|e| Ok(self.graph.node(e.source)?.output.clone()))
            .collect::<Result<_>>()?;
        let description = kind.describe(&input_fields, &output);
        let state = kind.state();
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        self.graph.nodes.push(ExecNode {
            id,
            kind,
            inputs,
            output,
            changelog_mode,
            state,
            description,
        });
        Ok(id)
    }

    fn modify(&mut self, operation: &ModifyOperation) -> Result<u32> {
        match operation {
            ModifyOperation::Sink {
                table,
                child,
                overwrite,
            } => {
                if *overwrite {
                    return Err(UnsupportedError::new("INSERT OVERWRITE").into());
                }
                self.sink(table, child)
            }
            ModifyOperation::Collect { child } => {
                let mode = OutputMode::Changelog(ChangelogMode::all());
                self.output(child, &mode)
            }
            ModifyOperation::OutputConversion { child, mode } => self.output(child, mode),
        }
    }

    fn output(&mut self, child: &QueryOperation, mode: &OutputMode) -> Result<u32> {
        let accepted = match mode {
            OutputMode::Append => ChangelogMode::insert_only(),
            OutputMode::Retract => ChangelogMode::all(),
            OutputMode::Changelog(mode) => *mode,
        };
        if accepted.is_insert_only() {
            refuse_updates("an append-only stream", &accepted, child)?;
        }
        let input = self.query(child)?;
        let key = upsert_key(child);
        let kind = ExecNodeKind::Output(Output {
            accepts: accepted,
            upsert_key: key,
        });
        self.add(
            kind,
            vec![ExecEdge::forward(input)],
            child.fields(),
            changelog_mode(child),
        )
    }

    fn sink(&mut self, table: &SinkTable, child: &QueryOperation) -> Result<u32> {
        let input = self.query(child)?;
        let produced = changelog_mode(child);
        let fields = table.table.schema.sink_fields();
        let primary_key: Vec<usize> = table
            .table
            .schema
            .primary_key
            .iter()
            .flat_map(|k| &k.columns)
            .filter_map(|name| fields.iter().position(|f| f.name == *name))
            .collect();
        let key = if primary_key.is_empty() {
            upsert_key(child).unwrap_or_default()
        } else {
            primary_key.clone()
        };
        // Rows of one key must meet in one writer in the order of their changes.
        let edge = if is_append_only(child) && primary_key.is_empty() || key.is_empty() {
            ExecEdge::forward(input)
        } else {
            ExecEdge::keyed(input, key.clone())
        };
        let from = child.fields();
        let not_null = fields
            .iter()
            .enumerate()
            .filter(|(i, field)| !field.data_type.nullable && from[*i].data_type.nullable)
            .map(|(i, _)| i)
            .collect();
        let sink = Sink {
            table: table.table.as_ref().clone(),
            key,
            not_null,
            update_cause: update_cause(child),
        };
        self.add(
            ExecNodeKind::Sink(Box::new(sink)),
            vec![edge],
            fields,
            produced,
        )
    }

    fn query(&mut self, operation: &QueryOperation) -> Result<u32> {
        stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || self.query_inner(operation))
    }

    fn query_inner(&mut self, operation: &QueryOperation) -> Result<u32> {
        let fields = operation.fields();
        let mode = changelog_mode(operation);
        match operation {
            QueryOperation::Source(q) => self.scan(q, fields),
            QueryOperation::DataStream(q) => {
                let scan = DataStreamScan {
                    name: q.name.clone(),
                    uid: q.uid.clone(),
                    key: q.schema.primary_key_indices(),
                };
                let port = q.port;
                let existing = self
                    .graph
                    .streams
                    .iter()
                    .find(|(_, p)| **p == port)
                    .map(|(id, _)| *id);
                let id = match existing {
                    Some(id) => id,
                    None => {
                        let id = self.add(
                            ExecNodeKind::DataStreamScan(scan),
                            Vec::new(),
                            fields.clone(),
                            q.changelog_mode,
                        )?;
                        self.graph.streams.insert(id, port);
                        id
                    }
                };
                if q.changelog_mode.is_upsert() {
                    let key = q.schema.primary_key_indices();
                    return self.normalize(id, key, fields, &format!("stream '{}'", q.name));
                }
                Ok(id)
            }
            QueryOperation::Values(q) => {
                let values = Values {
                    rows: q.rows.clone(),
                };
                self.add(ExecNodeKind::Values(values), Vec::new(), fields, mode)
            }
            QueryOperation::Project(ProjectQuery {
                expressions, input, ..
            }) => {
                let (condition, input) = match input.as_ref() {
                    QueryOperation::Filter(FilterQuery { condition, input }) => {
                        (Some(condition.clone()), input)
                    }
                    _ => (None, input),
                };
                self.calc(expressions.clone(), condition, input, fields, mode)
            }
            QueryOperation::Filter(q) => {
                let identity = fields
                    .iter()
                    .enumerate()
                    .map(|(i, f)| ResolvedExpr::input(i, f.data_type.clone()))
                    .collect();
                self.calc(identity, Some(q.condition.clone()), &q.input, fields, mode)
            }
            QueryOperation::Window(q) => {
                let input = self.query(&q.input)?;
                let function = WindowTableFunction {
                    window: q.window,
                    column: q.column,
                };
                let edge = ExecEdge::forward(input);
                self.add(
                    ExecNodeKind::WindowTableFunction(function),
                    vec![edge],
                    fields,
                    mode,
                )
            }
            QueryOperation::Aggregate(q) if let Some(window) = window_grouping(q) => {
                self.window_aggregate(q, &window.columns, fields, mode)
            }
            QueryOperation::Aggregate(q) => {
                let input = self.query(&q.input)?;
                let aggregate = GroupAggregate {
                    grouping: q.grouping.clone(),
                    aggregates: q.aggregates.clone(),
                    append_only_input: is_append_only(&q.input),
                };
                let edge = self.keyed(input, &q.grouping);
                self.add(
                    ExecNodeKind::GroupAggregate(aggregate),
                    vec![edge],
                    fields,
                    mode,
                )
            }
            QueryOperation::Distinct(q) => {
                // Grouping by all columns without an aggregate keeps one of equal rows.
                let input = self.query(&q.input)?;
                let grouping: Vec<usize> = (0..fields.len()).collect();
                let aggregate = GroupAggregate {
                    grouping: grouping.clone(),
                    aggregates: Vec::new(),
                    append_only_input: is_append_only(&q.input),
                };
                let edge = self.keyed(input, &grouping);
                self.add(
                    ExecNodeKind::GroupAggregate(aggregate),
                    vec![edge],
                    fields,
                    mode,
                )
            }
            QueryOperation::Join(q) => {
                let join = Join::new(q)?;
                let left = self.query(&q.left)?;
                let right = self.query(&q.right)?;
                let edges = vec![
                    self.keyed(left, &join.left_keys),
                    self.keyed(right, &join.right_keys),
                ];
                self.add(ExecNodeKind::Join(join), edges, fields, mode)
            }
            QueryOperation::Set(q) => {
                let inputs = q
                    .inputs
                    .iter()
                    .map(|i| Ok(ExecEdge::forward(self.query(i)?)))
                    .collect::<Result<_>>()?;
                self.add(ExecNodeKind::Union(Union {}), inputs, fields, mode)
            }
            QueryOperation::Watermark(q) => {
                let input = self.query(&q.input)?;
                let assigner = WatermarkAssigner {
                    column: q.column,
                    expression: q.expression.clone(),
                };
                let edge = ExecEdge::forward(input);
                self.add(
                    ExecNodeKind::WatermarkAssigner(assigner),
                    vec![edge],
                    fields,
                    mode,
                )
            }
        }
    }

    /// An edge that brings rows of equal columns together, which they may be already.
    fn keyed(&self, source: u32, keys: &[usize]) -> ExecEdge {
        if !keys.is_empty() && self.placed_by(source).as_deref() == Some(keys) {
            return ExecEdge::forward(source);
        }
        ExecEdge::keyed(source, keys.to_vec())
    }

    /// The columns by whose values a node's rows are on their workers, if they are by any.
    fn placed_by(&self, id: u32) -> Option<Vec<usize>> {
        let node = self.graph.nodes.iter().find(|n| n.id == id)?;
        let shift = |side: usize| {
            let left = self.graph.node(node.inputs[side].source).ok()?;
            Some(left.output.len())
        };
        match &node.kind {
            ExecNodeKind::GroupAggregate(aggregate) if !aggregate.grouping.is_empty() => {
                Some((0..aggregate.grouping.len()).collect())
            }
            ExecNodeKind::WindowAggregate(aggregate) if !aggregate.grouping.is_empty() => {
                Some((0..aggregate.grouping.len()).collect())
            }
            ExecNodeKind::WindowTableFunction(_) => self.placed_by(node.inputs[0].source),
            ExecNodeKind::ChangelogNormalize(normalize) => Some(normalize.key.clone()),
            ExecNodeKind::Join(join) if !join.left_keys.is_empty() => match join.join_type {
                JoinType::Inner | JoinType::Left | JoinType::Semi | JoinType::Anti => {
                    Some(join.left_keys.clone())
                }
                JoinType::Right => {
                    let width = shift(0)?;
                    Some(join.right_keys.iter().map(|k| k + width).collect())
                }
                // A padded row has NULL in the other side's key.
                JoinType::Full => None,
            },
            ExecNodeKind::WatermarkAssigner(_) => self.placed_by(node.inputs[0].source),
            ExecNodeKind::Calc(calc) => {
                let below = self.placed_by(node.inputs[0].source)?;
                let place = |c: &usize| {
                    calc.projection
                        .iter()
                        .position(|e| e.as_input() == Some(*c))
                };
                below.iter().map(place).collect()
            }
            _ => None,
        }
    }

    fn calc(
        &mut self,
        projection: Vec<ResolvedExpr>,
        condition: Option<ResolvedExpr>,
        input: &Arc<QueryOperation>,
        fields: Vec<Field>,
        mode: ChangelogMode,
    ) -> Result<u32> {
        let source = self.query(input)?;
        let width = input.fields().len();
        let is_identity = condition.is_none()
            && projection.len() == width
            && projection
                .iter()
                .enumerate()
                .all(|(i, e)| e.as_input() == Some(i));
        if is_identity {
            return Ok(source);
        }
        let kind = ExecNodeKind::Calc(Calc {
            projection,
            condition,
        });
        self.add(kind, vec![ExecEdge::forward(source)], fields, mode)
    }

    /// Scans a table once for all readers; a reader of fewer columns selects its own.
    fn scan(&mut self, q: &SourceQuery, fields: Vec<Field>) -> Result<u32> {
        let columns = self
            .scans
            .get(&scan_key(q))
            .cloned()
            .unwrap_or_else(|| q.projection.clone());
        let all = q.table.schema.source_fields();
        let scanned: Vec<Field> = columns.iter().map(|c| all[*c].clone()).collect();
        let scan = TableSourceScan {
            table: q.table.as_ref().clone(),
            columns: columns.clone(),
        };
        let kind = ExecNodeKind::TableSourceScan(Box::new(scan));
        let mut id = self.add(kind, Vec::new(), scanned.clone(), q.changelog_mode)?;
        if q.changelog_mode.is_upsert() {
            let key = source_key(q).unwrap_or_default();
            let key = key
                .iter()
                .filter_map(|k| columns.iter().position(|c| c == k))
                .collect();
            id = self.normalize(
                id,
                key,
                scanned.clone(),
                &format!("table {}", q.table.identifier),
            )?;
        }
        if columns == q.projection {
            return Ok(id);
        }
        let projection = q
            .projection
            .iter()
            .map(|c| {
                let place = columns
                    .iter()
                    .position(|s| s == c)
                    .expect("the scan has all columns of its readers");
                ResolvedExpr::input(place, scanned[place].data_type.clone())
            })
            .collect();
        let mode = self.graph.node(id)?.changelog_mode;
        let kind = ExecNodeKind::Calc(Calc {
            projection,
            condition: None,
        });
        self.add(kind, vec![ExecEdge::forward(id)], fields, mode)
    }

    fn normalize(
        &mut self,
        input: u32,
        key: Vec<usize>,
        fields: Vec<Field>,
        what: &str,
    ) -> Result<u32> {
        if key.is_empty() {
            return Err(ValidationErrorKind::InvalidClause {
                message: format!("{what} holds upserts, but has no primary key"),
                hint: Some("Declare PRIMARY KEY (..) NOT ENFORCED.".to_string()),
            }
            .into());
        }
        let edge = ExecEdge {
            source: input,
            distribution: Distribution::Hash { keys: key.clone() },
        };
        let kind = ExecNodeKind::ChangelogNormalize(ChangelogNormalize { key });
        self.add(kind, vec![edge], fields, ChangelogMode::all())
    }
}

/// What tells scans of one table from those of another.
fn scan_key(q: &SourceQuery) -> String {
    let options: Vec<String> = q
        .table
        .options
        .iter()
        .map(|(k, v)| format!("{k}={v:?}"))
        .collect();
    format!("{} {}", q.table.identifier, options.join(","))
}

/// The primary key as source columns.
fn source_key(q: &SourceQuery) -> Option<Vec<usize>> {
    let fields = q.table.schema.source_fields();
    let key = q.table.schema.primary_key.as_ref()?;
    key.columns
        .iter()
        .map(|name| fields.iter().position(|f| f.name == *name))
        .collect()
}

/// Whether two equal nodes may be one.
fn is_shareable(kind: &ExecNodeKind) -> bool {
    match kind {
        ExecNodeKind::Sink(_) | ExecNodeKind::Output(_) | ExecNodeKind::DataStreamScan(_) => false,
        ExecNodeKind::Calc(calc) => calc
            .projection
            .iter()
            .chain(&calc.condition)
            .all(ResolvedExpr::is_deterministic),
        ExecNodeKind::Values(values) => values
            .rows
            .iter()
            .flatten()
            .all(ResolvedExpr::is_deterministic),
        ExecNodeKind::Join(join) => join.condition.iter().all(ResolvedExpr::is_deterministic),
        _ => true,
    }
}

/// Refuses a query whose changes a target cannot take.
pub(super) fn refuse_updates(
    target: &str,
    accepted: &ChangelogMode,
    child: &QueryOperation,
) -> Result<()> {
    if is_append_only(child) {
        return Ok(());
    }
    Err(ValidationErrorKind::UpdatesNotAccepted {
        target: target.to_string(),
        accepted: accepted.to_string(),
        produced: changelog_mode(child).to_string(),
        cause: update_cause(child).unwrap_or_default(),
    }
    .into())
}

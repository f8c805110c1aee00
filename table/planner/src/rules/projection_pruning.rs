//! Drops columns that nobody reads, down to the scan.
//!
//! From the root each node is told which of its columns are read, and answers a node that produces
//! at least those, with the new place of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::Result;
use aquifer_table_common::operation::{
    AggregateQuery, FilterQuery, JoinQuery, ProjectQuery, QueryOperation, SetQuery, SourceQuery,
    ValuesQuery, WatermarkQuery, WindowQuery,
};
use aquifer_types::Field;

/// A pruned node and, for each former column, its new place.
struct Pruned {
    operation: QueryOperation,
    places: Vec<Option<usize>>,
}

impl Pruned {
    fn unchanged(operation: QueryOperation, width: usize) -> Self {
        Pruned {
            operation,
            places: (0..width).map(Some).collect(),
        }
    }

    /// A node that kept the columns of `kept`, in that order.
    fn kept(operation: QueryOperation, kept: &[usize], width: usize) -> Self {
        let mut places = vec![None; width];
        for (place, column) in kept.iter().enumerate() {
            places[*column] = Some(place);
        }
        Pruned { operation, places }
    }

    fn place(&self, column: usize) -> usize {
        self.places[column].expect("a column that is read is kept")
    }

    fn expression(&self, expression: &ResolvedExpr) -> ResolvedExpr {
        expression.clone().map_inputs(&mut |i| self.place(i))
    }
}

/// A tree without columns that nobody reads; its own columns stay.
pub(super) fn prune(operation: &QueryOperation) -> Result<QueryOperation> {
    let fields = operation.fields();
    let all: Vec<usize> = (0..fields.len()).collect();
    let pruned = prune_node(operation, &all.iter().copied().collect())?;
    Ok(restore(pruned, &all, &fields))
}

/// The node with exactly the columns `wanted`, in that order.
fn restore(pruned: Pruned, wanted: &[usize], fields: &[Field]) -> QueryOperation {
    let now = pruned.operation.fields();
    let is_same = now.len() == wanted.len()
        && wanted
            .iter()
            .enumerate()
            .all(|(i, column)| pruned.places[*column] == Some(i) && now[i] == fields[*column]);
    if is_same {
        return pruned.operation;
    }
    let expressions = wanted
        .iter()
        .map(|c| ResolvedExpr::input(pruned.place(*c), fields[*c].data_type.clone()))
        .collect();
    let fields = wanted.iter().map(|c| fields[*c].clone()).collect();
    QueryOperation::Project(ProjectQuery {
        expressions,
        fields,
        input: Arc::new(pruned.operation),
    })
}

fn prune_node(operation: &QueryOperation, read: &BTreeSet<usize>) -> Result<Pruned> {
    stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || {
        prune_inner(operation, read)
    })
}

fn prune_inner(operation: &QueryOperation, read: &BTreeSet<usize>) -> Result<Pruned> {
    let width = operation.fields().len();
    // A node without columns is legal, but a source reads at least one, so that every connector can
    // count its rows.
    let kept: Vec<usize> = read.iter().copied().collect();
    Ok(match operation {
        QueryOperation::Source(q) => {
            let kept = if kept.is_empty() && width > 0 {
                vec![0]
            } else {
                kept
            };
            let projection = kept.iter().map(|c| q.projection[*c]).collect();
            Pruned::kept(
                QueryOperation::Source(SourceQuery {
                    projection,
                    ..q.clone()
                }),
                &kept,
                width,
            )
        }
        QueryOperation::DataStream(_) => {
            let unchanged = Pruned::unchanged(operation.clone(), width);
            if kept.len() == width || kept.is_empty() {
                return Ok(unchanged);
            }
            Pruned::kept(restore(unchanged, &kept, &operation.fields()), &kept, width)
        }
        QueryOperation::Values(q) => {
            let rows = q
                .rows
                .iter()
                .map(|row| kept.iter().map(|c| row[*c].clone()).collect())
                .collect();
            let fields = kept.iter().map(|c| q.fields[*c].clone()).collect();
            Pruned::kept(
                QueryOperation::Values(ValuesQuery { rows, fields }),
                &kept,
                width,
            )
        }
        QueryOperation::Project(q) => {
            let below: BTreeSet<usize> = kept
                .iter()
                .flat_map(|c| q.expressions[*c].inputs())
                .collect();
            let input = prune_node(&q.input, &below)?;
            let project = ProjectQuery {
                expressions: kept
                    .iter()
                    .map(|c| input.expression(&q.expressions[*c]))
                    .collect(),
                fields: kept.iter().map(|c| q.fields[*c].clone()).collect(),
                input: Arc::new(input.operation),
            };
            Pruned::kept(QueryOperation::Project(project), &kept, width)
        }
        QueryOperation::Filter(q) => {
            let mut below = read.clone();
            below.extend(q.condition.inputs());
            let input = prune_node(&q.input, &below)?;
            let condition = input.expression(&q.condition);
            let places = input.places.clone();
            let filter = FilterQuery {
                condition,
                input: Arc::new(input.operation),
            };
            Pruned {
                operation: QueryOperation::Filter(filter),
                places,
            }
        }
        QueryOperation::Watermark(q) => {
            let mut below = read.clone();
            below.extend(q.expression.inputs());
            below.insert(q.column);
            let input = prune_node(&q.input, &below)?;
            let watermark = WatermarkQuery {
                column: input.place(q.column),
                expression: input.expression(&q.expression),
                input: Arc::new(input.operation),
            };
            Pruned {
                operation: QueryOperation::Watermark(watermark),
                places: input.places,
            }
        }
        QueryOperation::Window(q) => {
            let input_width = width - 3;
            let mut below: BTreeSet<usize> =
                read.iter().copied().filter(|c| *c < input_width).collect();
            below.insert(q.column);
            let input = prune_node(&q.input, &below)?;
            let new_width = input.operation.fields().len();
            let mut places = input.places.clone();
            places.extend((0..3).map(|i| Some(new_width + i)));
            let mut fields = input.operation.fields();
            fields.extend_from_slice(&q.fields[input_width..]);
            let window = WindowQuery {
                window: q.window,
                column: input.place(q.column),
                fields,
                input: Arc::new(input.operation),
            };
            Pruned {
                operation: QueryOperation::Window(window),
                places,
            }
        }
        QueryOperation::Aggregate(q) => {
            let keys = q.grouping.len();
            let calls: Vec<usize> = (0..q.aggregates.len())
                .filter(|i| read.contains(&(keys + i)))
                .collect();
            let mut below: BTreeSet<usize> = q.grouping.iter().copied().collect();
            for call in calls.iter().map(|i| &q.aggregates[*i]) {
                below.extend(call.arguments.iter().chain(&call.filter));
            }
            let input = prune_node(&q.input, &below)?;
            let mut aggregates = Vec::with_capacity(calls.len());
            for call in calls.iter().map(|i| &q.aggregates[*i]) {
                let mut call = call.clone();
                call.arguments
                    .iter_mut()
                    .chain(&mut call.filter)
                    .for_each(|a| *a = input.place(*a));
                aggregates.push(call);
            }
            let kept: Vec<usize> = (0..keys).chain(calls.iter().map(|i| keys + i)).collect();
            let aggregate = AggregateQuery {
                grouping: q.grouping.iter().map(|g| input.place(*g)).collect(),
                aggregates,
                fields: kept.iter().map(|c| q.fields[*c].clone()).collect(),
                input: Arc::new(input.operation),
            };
            Pruned::kept(QueryOperation::Aggregate(aggregate), &kept, width)
        }
        QueryOperation::Join(q) => prune_join(q, read)?,
        QueryOperation::Distinct(q) => {
            let all: Vec<usize> = (0..width).collect();
            let fields = q.input.fields();
            let input = prune_node(&q.input, &all.iter().copied().collect())?;
            let input = Arc::new(restore(input, &all, &fields));
            Pruned::unchanged(operation.with_children(vec![input]), width)
        }
        QueryOperation::Set(q) => {
            let mut inputs = Vec::with_capacity(q.inputs.len());
            for input in &q.inputs {
                let fields = input.fields();
                inputs.push(Arc::new(restore(prune_node(input, read)?, &kept, &fields)));
            }
            let fields = kept.iter().map(|c| q.fields[*c].clone()).collect();
            Pruned::kept(
                QueryOperation::Set(SetQuery { inputs, fields }),
                &kept,
                width,
            )
        }
    })
}

fn prune_join(q: &JoinQuery, read: &BTreeSet<usize>) -> Result<Pruned> {
    let left_width = q.left.fields().len();
    let mut below = read.clone();
    below.extend(q.condition.inputs());
    let left_read = below.iter().copied().filter(|c| *c < left_width).collect();
    let right_read = below
        .iter()
        .filter(|c| **c >= left_width)
        .map(|c| c - left_width)
        .collect();
    let left = prune_node(&q.left, &left_read)?;
    let right = prune_node(&q.right, &right_read)?;
    let new_left_width = left.operation.fields().len();
    let new_right_width = right.operation.fields().len();
    let mut places = left.places.clone();
    places.extend(right.places.iter().map(|p| p.map(|p| p + new_left_width)));
    let mut fields: Vec<Option<Field>> = vec![None; new_left_width + new_right_width];
    let output_width = q.fields.len();
    for (column, place) in places.iter().take(output_width).enumerate() {
        if let Some(place) = place {
            fields[*place] = Some(q.fields[column].clone());
        }
    }
    if !q.join_type.keeps_right() {
        fields.truncate(new_left_width);
    }
    let fields = fields
        .into_iter()
        .map(|f| f.expect("every column that was kept was there before"))
        .collect();
    let condition = q
        .condition
        .clone()
        .map_inputs(&mut |i| places[i].expect("the condition's columns are kept"));
    places.truncate(output_width);
    let join = JoinQuery {
        join_type: q.join_type,
        condition,
        fields,
        left: Arc::new(left.operation),
        right: Arc::new(right.operation),
    };
    Ok(Pruned {
        operation: QueryOperation::Join(join),
        places,
    })
}

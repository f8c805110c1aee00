//! Columns with event time: those of which a watermark tells how far they have come.

use aquifer_table_common::operation::QueryOperation;

use super::window::window_grouping;

/// The event-time columns of an operation's output.
pub fn time_attributes(operation: &QueryOperation) -> Vec<usize> {
    match operation {
        QueryOperation::Source(_) | QueryOperation::Values(_) | QueryOperation::Distinct(_) => {
            Vec::new()
        }
        QueryOperation::DataStream(q) => q.schema.watermarks.iter().map(|w| w.column).collect(),
        QueryOperation::Project(q) => {
            let below = time_attributes(&q.input);
            let is_time = |column: Option<usize>| column.is_some_and(|c| below.contains(&c));
            (0..q.expressions.len())
                .filter(|i| is_time(q.expressions[*i].as_input()))
                .collect()
        }
        QueryOperation::Filter(q) => time_attributes(&q.input),
        QueryOperation::Watermark(q) => {
            let mut columns = time_attributes(&q.input);
            columns.push(q.column);
            columns
        }
        QueryOperation::Window(q) => {
            let mut columns = time_attributes(&q.input);
            columns.push(q.fields.len() - 1);
            columns
        }
        QueryOperation::Aggregate(q) => match window_grouping(q) {
            Some(window) => {
                let is_time = |g: &usize| window.columns.time.contains(g);
                (0..q.grouping.len())
                    .filter(|i| is_time(&q.grouping[*i]))
                    .collect()
            }
            None => Vec::new(),
        },
        QueryOperation::Set(q) => {
            let mut common = time_attributes(&q.inputs[0]);
            for input in &q.inputs[1..] {
                let other = time_attributes(input);
                common.retain(|c| other.contains(c));
            }
            common
        }
        // A row may find its match at any later time.
        QueryOperation::Join(_) => Vec::new(),
    }
}

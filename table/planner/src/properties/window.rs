//! Columns that hold a row's window, and aggregations by them.

use aquifer_table_common::operation::{AggregateQuery, QueryOperation};
use aquifer_types::LogicalType;

/// Where an operation's output holds the window of each row.
#[derive(Debug, Clone, Default)]
pub struct WindowColumns {
    /// Columns with the window's start.
    pub start: Vec<usize>,
    /// Columns with the window's end.
    pub end: Vec<usize>,
    /// Columns with the window's last millisecond.
    pub time: Vec<usize>,
    /// Whether windows were made of instants, so that start and end are local times.
    pub is_instant: bool,
}

impl WindowColumns {
    /// Whether a column holds a part of the window.
    pub fn contains(&self, column: usize) -> bool {
        [&self.start, &self.end, &self.time]
            .into_iter()
            .any(|c| c.contains(&column))
    }

    /// The columns after `map` has placed each former column at any number of new ones.
    fn mapped(&self, map: impl Fn(usize) -> Vec<usize>) -> Option<Self> {
        let all = |columns: &[usize]| columns.iter().flat_map(|c| map(*c)).collect::<Vec<_>>();
        let mapped = WindowColumns {
            start: all(&self.start),
            end: all(&self.end),
            time: all(&self.time),
            is_instant: self.is_instant,
        };
        (!mapped.start.is_empty() && !mapped.end.is_empty()).then_some(mapped)
    }
}

/// The window columns of an operation's output, if its rows belong to windows.
pub fn window_columns(operation: &QueryOperation) -> Option<WindowColumns> {
    match operation {
        QueryOperation::Window(q) => {
            let width = q.fields.len() - 3;
            let is_instant = matches!(
                q.fields[width + 2].data_type.logical,
                LogicalType::TimestampLtz(_)
            );
            Some(WindowColumns {
                start: vec![width],
                end: vec![width + 1],
                time: vec![width + 2],
                is_instant,
            })
        }
        QueryOperation::Filter(q) => window_columns(&q.input),
        QueryOperation::Watermark(q) => window_columns(&q.input),
        QueryOperation::Project(q) => window_columns(&q.input)?.mapped(|column| {
            let is_it = |i: &usize| q.expressions[*i].as_input() == Some(column);
            (0..q.expressions.len()).filter(is_it).collect()
        }),
        QueryOperation::Aggregate(q) => window_grouping(q)?.columns.mapped(|column| {
            (0..q.grouping.len())
                .filter(|i| q.grouping[*i] == column)
                .collect()
        }),
        _ => None,
    }
}

/// An aggregation by windows.
#[derive(Debug, Clone)]
pub struct WindowGrouping {
    /// The window columns of the aggregation's input.
    pub columns: WindowColumns,
}

/// Whether an aggregation groups by the start and the end of windows, so that each group is complete
/// when its window is.
pub fn window_grouping(q: &AggregateQuery) -> Option<WindowGrouping> {
    let columns = window_columns(&q.input)?;
    let groups = |of: &[usize]| q.grouping.iter().any(|g| of.contains(g));
    (groups(&columns.start) && groups(&columns.end)).then_some(WindowGrouping { columns })
}

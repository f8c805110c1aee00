//! Assigns windows.

use aquifer_operators::window::{WindowKind as OperatorKind, window_table_function};
use aquifer_runtime::{OutputPort, Transformation};
use aquifer_table_common::Result;
use aquifer_table_common::operation::WindowKind;
use aquifer_types::Field;
use serde::{Deserialize, Serialize};

use super::node::{names_at, types_of};
use super::translate::NodeContext;

/// Gives each row once per window it belongs to, with the window's bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowTableFunction {
    /// The windows.
    pub window: WindowKind,
    /// The event-time column.
    pub column: usize,
}

impl WindowTableFunction {
    pub(super) fn describe(&self, input: &[Field]) -> String {
        let column = names_at(input, &[self.column]);
        format!(
            "WindowTableFunction(window=[{}], timeCol=[{column}])",
            window_text(&self.window)
        )
    }

    pub(super) fn translate(&self, at: &NodeContext<'_>) -> Result<OutputPort> {
        let types = types_of(&at.inputs[0].1.output);
        let zone = at.context.time_zone;
        let step = window_table_function(operator_kind(&self.window), self.column, &types, zone)?;
        let name = at.node.description.clone();
        Ok(at.add(Transformation::step(name, at.edges(), at.codec(), step)))
    }
}

/// The windows as the operators know them.
pub(super) fn operator_kind(window: &WindowKind) -> OperatorKind {
    match *window {
        WindowKind::Tumble { size_ms, offset_ms } => OperatorKind::Tumble { size_ms, offset_ms },
        WindowKind::Hop {
            size_ms,
            slide_ms,
            offset_ms,
        } => OperatorKind::Hop {
            size_ms,
            slide_ms,
            offset_ms,
        },
        WindowKind::Cumulate {
            max_size_ms,
            step_ms,
            offset_ms,
        } => OperatorKind::Cumulate {
            max_size_ms,
            step_ms,
            offset_ms,
        },
    }
}

/// `TUMBLE(size=[10000 ms])`.
pub(crate) fn window_text(window: &WindowKind) -> String {
    let (text, offset) = match window {
        WindowKind::Tumble { size_ms, offset_ms } => {
            (format!("TUMBLE(size=[{size_ms} ms]"), offset_ms)
        }
        WindowKind::Hop {
            size_ms,
            slide_ms,
            offset_ms,
        } => (
            format!("HOP(size=[{size_ms} ms], slide=[{slide_ms} ms]"),
            offset_ms,
        ),
        WindowKind::Cumulate {
            max_size_ms,
            step_ms,
            offset_ms,
        } => (
            format!("CUMULATE(max_size=[{max_size_ms} ms], step=[{step_ms} ms]"),
            offset_ms,
        ),
    };
    if *offset == 0 {
        format!("{text})")
    } else {
        format!("{text}, offset=[{offset} ms])")
    }
}

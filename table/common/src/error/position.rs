//! A place in a SQL text.

use std::fmt;

/// A place in a SQL text, with the line it stands in, so that an error can show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPosition {
    /// Line, counted from 1.
    pub line: u64,
    /// Column in characters, counted from 1.
    pub column: u64,
    /// The text of that line, without its end.
    pub text: String,
}

impl TextPosition {
    /// The position `line`, `column` (both from 1) of `sql`.
    pub fn of(sql: &str, line: u64, column: u64) -> Self {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let text = sql.lines().nth(index).unwrap_or_default().to_string();
        TextPosition { line, column, text }
    }

    /// The position just after the last character of `sql`.
    pub fn end_of(sql: &str) -> Self {
        let trimmed = sql.trim_end();
        let line = trimmed.lines().count().max(1);
        let column = trimmed.lines().last().map_or(0, |l| l.chars().count()) + 1;
        TextPosition::of(sql, line as u64, column as u64)
    }
}

impl fmt::Display for TextPosition {
    /// Writes `line 2, column 8:` and below it the line with a caret under the column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WIDTH: usize = 120;
        let caret = usize::try_from(self.column.saturating_sub(1)).unwrap_or(usize::MAX);
        // A very long line is cut to a window around the caret.
        let from = if caret > WIDTH / 2 && self.text.chars().count() > WIDTH {
            caret - WIDTH / 2
        } else {
            0
        };
        let shown: String = self
            .text
            .chars()
            .skip(from)
            .take(WIDTH)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let pad = " ".repeat((caret - from.min(caret)).min(WIDTH));
        write!(
            f,
            "line {}, column {}:\n  {shown}\n  {pad}^",
            self.line, self.column
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caret_stands_below_the_column() {
        let at = TextPosition::of("SELECT\n  prise FROM t", 2, 3);
        assert_eq!(at.to_string(), "line 2, column 3:\n    prise FROM t\n    ^");
        assert_eq!(TextPosition::end_of("SELECT 1\n").column, 9);
        assert_eq!(
            TextPosition::end_of("").to_string(),
            "line 1, column 1:\n  \n  ^"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}HERE", "x".repeat(500));
        let shown = TextPosition::of(&text, 1, 501).to_string();
        assert!(shown.contains("HERE"), "{shown}");
        assert!(shown.lines().all(|l| l.len() < 140));
    }
}

//! Rows as a table of characters, in the reference's form.
//!
//! Values stand on the right of their column; longer ones are cut. Columns of a running query get the width their
//! type may need, because its rows are printed as they come.

use std::io::Write;

use aquifer_table_common::{IoError, Result, TableError};
use aquifer_types::{Field, LogicalType, Row, Value};

/// How wide a column is at most.
const MAX_WIDTH: usize = 30;
const NULL: &str = "<NULL>";

/// Where the width of columns comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Widths {
    /// From the types.
    OfTypes,
    /// From the values, which must all be there before the first is printed.
    OfValues,
}

/// Prints rows, with their kinds if asked for.
pub(crate) fn print(
    fields: &[Field],
    rows: impl Iterator<Item = Result<Row>>,
    widths: Widths,
    kinds: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let failed = |error| TableError::from(IoError::new("print to", "the output", error));
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return writeln!(out, "Empty set").map_err(failed);
    }
    let mut held = Vec::new();
    let mut widths: Vec<usize> = match widths {
        Widths::OfTypes => fields
            .iter()
            .map(|f| width(&f.name).min(MAX_WIDTH).max(type_width(f)))
            .collect(),
        Widths::OfValues => {
            held = rows.by_ref().collect::<Result<Vec<Row>>>()?;
            let widest = |(index, field): (usize, &Field)| {
                let values = held.iter().filter_map(|row| row.field(index));
                values
                    .map(|value| width(&text(value)))
                    .max()
                    .unwrap_or(0)
                    .max(width(&field.name))
                    .min(MAX_WIDTH)
            };
            fields.iter().enumerate().map(widest).collect()
        }
    };
    let mut header: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    if kinds {
        header.insert(0, "op".to_string());
        widths.insert(0, 2);
    }
    let rule: String = widths
        .iter()
        .map(|width| format!("+{}", "-".repeat(width + 2)))
        .collect::<String>()
        + "+";
    writeln!(out, "{rule}\n{}\n{rule}", line(&header, &widths)).map_err(failed)?;
    let mut count = 0usize;
    for row in held.into_iter().map(Ok).chain(rows) {
        let row = row?;
        let mut cells: Vec<String> = row.fields().iter().map(text).collect();
        if kinds {
            cells.insert(0, row.kind().to_string());
        }
        writeln!(out, "{}", line(&cells, &widths)).map_err(failed)?;
        out.flush().map_err(failed)?;
        count += 1;
    }
    let noun = if count == 1 { "row" } else { "rows" };
    writeln!(out, "{rule}\n{count} {noun} in set").map_err(failed)?;
    out.flush().map_err(failed)
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::from("|");
    for (cell, width_) in cells.iter().zip(widths) {
        let cell = cut(cell, *width_);
        line.push_str(&" ".repeat(1 + width_.saturating_sub(width(&cell))));
        line.push_str(&cell);
        line.push_str(" |");
    }
    line
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => NULL.to_string(),
        Value::Boolean(value) => value.to_string().to_uppercase(),
        // A line end inside a value would break the table.
        value => value.to_string().replace(['\n', '\r'], " "),
    }
}

/// The text with what does not fit replaced by dots.
fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_string();
    }
    let mut cut = String::new();
    for c in text.chars() {
        if width(&cut) + char_width(c) + 3 > limit {
            break;
        }
        cut.push(c);
    }
    cut + &"...".chars().take(limit).collect::<String>()
}

/// The number of cells a text takes on a terminal.
fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Wide are East Asian characters and emoji (Unicode's annex 11, by ranges).
fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// The width that values of the type may need.
fn type_width(field: &Field) -> usize {
    use LogicalType as T;
    let seconds = |fraction: u8, base: usize| {
        if fraction == 0 {
            base
        } else {
            base + 1 + usize::from(fraction)
        }
    };
    let width = match &field.data_type.logical {
        T::TinyInt => 4,
        T::SmallInt => 6,
        T::Int => 11,
        T::BigInt => 20,
        T::Decimal { precision, .. } => usize::from(*precision) + 2,
        T::Boolean => 5,
        T::Date => 10,
        T::Time(precision) => seconds(*precision, 8),
        T::Timestamp(precision) | T::TimestampLtz(precision) => seconds(*precision, 19),
        _ => MAX_WIDTH,
    };
    if field.data_type.nullable {
        width.max(NULL.len())
    } else {
        width
    }
}

#[cfg(test)]
mod tests {
    use aquifer_types::{DataTypes, RowKind, row_values};

    use super::*;

    fn check(widths: Widths, kinds: bool, rows: &[Row]) -> String {
        let fields = [
            Field::new("name", DataTypes::string()),
            Field::new("cnt", DataTypes::int().not_null()),
        ];
        let mut out = Vec::new();
        print(
            &fields,
            rows.iter().cloned().map(Ok),
            widths,
            kinds,
            &mut out,
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn looks_as_the_reference_prints() {
        let rows = [
            Row::of(row_values!["Bob", 1]),
            Row::of_kind(
                RowKind::UpdateBefore,
                row_values!["a text that is longer than thirty characters", 2],
            ),
            Row::of_kind(RowKind::UpdateAfter, row_values![Value::Null, -3]),
        ];
        assert_eq!(
            check(Widths::OfTypes, true, &rows),
            "\
+----+--------------------------------+-------------+
| op |                           name |         cnt |
+----+--------------------------------+-------------+
| +I |                            Bob |           1 |
| -U | a text that is longer than ... |           2 |
| +U |                         <NULL> |          -3 |
+----+--------------------------------+-------------+
3 rows in set
"
        );
        assert_eq!(
            check(Widths::OfValues, false, &rows[..1]),
            "+------+-----+\n| name | cnt |\n+------+-----+\n|  Bob |   1 |\n+------+-----+\n1 row in set\n"
        );
        assert_eq!(check(Widths::OfTypes, true, &[]), "Empty set\n");
    }

    #[test]
    fn wide_characters_and_line_ends_keep_the_columns_straight() {
        let rows = [
            Row::of(row_values!["名前", 1]),
            Row::of(row_values!["a\nb", 22]),
        ];
        let printed = check(Widths::OfValues, false, &rows);
        let widths: Vec<usize> = printed.lines().take(5).map(width).collect();
        assert!(widths.iter().all(|w| *w == widths[0]), "{printed}");
    }
}

//! Takes records apart: finds where fields begin and end, without looking at what they say.
//!
//! RFC 4180 with Flink's extensions: a quote is special at the begin of a field only, doubled quotes
//! and escaped characters inside a field stand for themselves, `\n`, `\r\n` and a lone `\r` end a
//! line. Empty lines are skipped. A field is a range of the input, or of `unescaped` if it had to be
//! written anew.

use super::options::Dialect;

/// Where the text of a field stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    length: u32,
    is_unescaped: bool,
}

/// The fields of any number of records.
#[derive(Default)]
pub(super) struct Fields {
    spans: Vec<Span>,
    unescaped: Vec<u8>,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
        self.unescaped.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn truncate(&mut self, fields: usize) {
        self.spans.truncate(fields);
    }

    /// The text of the field `index`, if `bytes` is what was scanned.
    #[inline]
    pub(super) fn text<'a>(&'a self, bytes: &'a [u8], index: usize) -> &'a [u8] {
        let span = self.spans[index];
        let from = if span.is_unescaped {
            &self.unescaped
        } else {
            bytes
        };
        &from[span.start..span.start + span.length as usize]
    }

    fn push(&mut self, start: usize, end: usize, is_unescaped: bool) {
        let length = u32::try_from(end - start).expect("a record is far shorter than 4 GB");
        self.spans.push(Span {
            start,
            length,
            is_unescaped,
        });
    }
}

/// What was found at a position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A record; its fields were added.
    Record(Extent),
    /// An empty line or a comment.
    Nothing(Extent),
    /// A record that cannot be taken apart; its fields may have been added.
    Broken(Extent, &'static str),
    /// The record may go on behind the end of the input.
    Incomplete,
    /// The end of the input.
    End,
}

/// How far a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The position behind its line end.
    pub(super) next: usize,
    /// How many line ends it holds.
    pub(super) lines: u64,
}

/// How a field ended.
enum FieldEnd {
    /// The next field begins here.
    Delimiter(usize),
    /// The record ends here, before its line end.
    Line(usize),
    Incomplete,
    Broken(&'static str),
}

/// Finds records.
pub(super) struct Scanner {
    dialect: Dialect,
    /// The bytes at which an unquoted field may end or need work.
    stops: [bool; 256],
}

impl Scanner {
    pub(super) fn new(dialect: Dialect) -> Self {
        let mut stops = [false; 256];
        for byte in [dialect.delimiter, b'\n', b'\r']
            .into_iter()
            .chain(dialect.escape)
        {
            stops[usize::from(byte)] = true;
        }
        Scanner { dialect, stops }
    }

    /// Looks at what begins at `at`. `is_end`: nothing comes after `bytes`.
    #[inline]
    pub(super) fn scan(&self, bytes: &[u8], at: usize, is_end: bool, fields: &mut Fields) -> Found {
        let Some(first) = bytes.get(at) else {
            return Found::End;
        };
        if matches!(first, b'\n' | b'\r') {
            return match line_end(bytes, at, is_end) {
                Some(next) => Found::Nothing(Extent { next, lines: 1 }),
                None => Found::Incomplete,
            };
        }
        if self.dialect.comments && *first == b'#' {
            return match self.end_of_line(bytes, at, is_end) {
                Some(next) => Found::Nothing(Extent { next, lines: 1 }),
                None => Found::Incomplete,
            };
        }
        let (mut position, mut lines) = (at, 0);
        loop {
            let end = if self.dialect.quote.is_some()
                && bytes.get(position).copied() == self.dialect.quote
            {
                self.quoted(bytes, position + 1, is_end, fields, &mut lines)
            } else {
                self.unquoted(bytes, position, is_end, fields)
            };
            match end {
                FieldEnd::Delimiter(next) => position = next,
                FieldEnd::Line(end) => {
                    return match line_end(bytes, end, is_end) {
                        Some(next) => Found::Record(Extent {
                            next,
                            lines: lines + 1,
                        }),
                        None => Found::Incomplete,
                    };
                }
                FieldEnd::Incomplete => return Found::Incomplete,
                FieldEnd::Broken(reason) => {
                    // What follows is read from the next line on, so that one bad quote does not
                    // take the rest of the file with it.
                    return match self.end_of_line(bytes, at, is_end) {
                        Some(next) => Found::Broken(Extent { next, lines: 1 }, reason),
                        None => Found::Incomplete,
                    };
                }
            }
        }
    }

    #[inline]
    fn unquoted(&self, bytes: &[u8], start: usize, is_end: bool, fields: &mut Fields) -> FieldEnd {
        let mut at = start;
        while at < bytes.len() && !self.stops[usize::from(bytes[at])] {
            at += 1;
        }
        if at < bytes.len() && Some(bytes[at]) == self.dialect.escape {
            return self.escaped(bytes, start, at, is_end, fields);
        }
        if at == bytes.len() && !is_end {
            return FieldEnd::Incomplete;
        }
        fields.push(start, at, false);
        self.after_field(bytes, at)
    }

    /// An unquoted field with an escape at `at`.
    #[cold]
    fn escaped(
        &self,
        bytes: &[u8],
        start: usize,
        mut at: usize,
        is_end: bool,
        fields: &mut Fields,
    ) -> FieldEnd {
        let begin = fields.unescaped.len();
        fields.unescaped.extend_from_slice(&bytes[start..at]);
        while let Some(byte) = bytes.get(at) {
            if Some(*byte) == self.dialect.escape {
                match bytes.get(at + 1) {
                    Some(escaped) => fields.unescaped.push(unescape(*escaped)),
                    None if is_end => {
                        return FieldEnd::Broken("nothing follows the escape character");
                    }
                    None => return FieldEnd::Incomplete,
                }
                at += 2;
            } else if self.stops[usize::from(*byte)] {
                break;
            } else {
                fields.unescaped.push(*byte);
                at += 1;
            }
        }
        if at >= bytes.len() && !is_end {
            return FieldEnd::Incomplete;
        }
        fields.push(begin, fields.unescaped.len(), true);
        self.after_field(bytes, at)
    }

    fn quoted(
        &self,
        bytes: &[u8],
        start: usize,
        is_end: bool,
        fields: &mut Fields,
        lines: &mut u64,
    ) -> FieldEnd {
        let quote = self.dialect.quote.unwrap_or(b'"');
        let escape = self.dialect.escape.filter(|escape| *escape != quote);
        let begin = fields.unescaped.len();
        let (mut copied, mut at) = (start, start);
        let end = loop {
            let stop = bytes[at..]
                .iter()
                .position(|b| *b == quote || Some(*b) == escape);
            let Some(stop) = stop.map(|stop| at + stop) else {
                return if is_end {
                    FieldEnd::Broken("a quote is not closed")
                } else {
                    FieldEnd::Incomplete
                };
            };
            let Some(next) = bytes.get(stop + 1) else {
                if !is_end {
                    return FieldEnd::Incomplete;
                }
                if bytes[stop] == quote {
                    break stop;
                }
                return FieldEnd::Broken("nothing follows the escape character");
            };
            if bytes[stop] != quote {
                fields.unescaped.extend_from_slice(&bytes[copied..stop]);
                fields.unescaped.push(unescape(*next));
            } else if *next == quote {
                fields.unescaped.extend_from_slice(&bytes[copied..=stop]);
            } else {
                break stop;
            }
            at = stop + 2;
            copied = at;
        };
        *lines += bytes[start..end]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u64;
        if copied == start {
            fields.push(start, end, false);
        } else {
            fields.unescaped.extend_from_slice(&bytes[copied..end]);
            fields.push(begin, fields.unescaped.len(), true);
        }
        let mut after = end + 1;
        while after < bytes.len()
            && bytes[after] != self.dialect.delimiter
            && matches!(bytes[after], b' ' | b'\t')
        {
            after += 1;
        }
        if after == bytes.len() && !is_end {
            return FieldEnd::Incomplete;
        }
        self.after_field(bytes, after)
    }

    #[inline]
    fn after_field(&self, bytes: &[u8], at: usize) -> FieldEnd {
        match bytes.get(at) {
            Some(byte) if *byte == self.dialect.delimiter => FieldEnd::Delimiter(at + 1),
            None | Some(b'\n' | b'\r') => FieldEnd::Line(at),
            Some(_) => FieldEnd::Broken("text follows a closing quote"),
        }
    }

    /// The position behind the line that `at` is in.
    fn end_of_line(&self, bytes: &[u8], at: usize, is_end: bool) -> Option<usize> {
        match bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
        {
            Some(end) => line_end(bytes, at + end, is_end),
            None => is_end.then_some(bytes.len()),
        }
    }
}

/// The position behind the line end at `at`, or the end of the input.
#[inline]
fn line_end(bytes: &[u8], at: usize, is_end: bool) -> Option<usize> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(at + 2),
        (Some(b'\r'), None) if !is_end => None,
        (Some(_), _) => Some(at + 1),
        (None, _) => Some(bytes.len()),
    }
}

fn unescape(character: u8) -> u8 {
    match character {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        other => other,
    }
}

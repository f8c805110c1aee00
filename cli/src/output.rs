//! Labels each line of the processes and passes it on: standard output to standard output, standard error to
//! standard error. A line is written in one piece, so lines of several processes never mix.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Longest piece that is gathered before it is written although no line end came.
const LONGEST_LINE: u64 = 1 << 20;

/// Says something in the launcher's own name.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr().lock(), "[aquifer] {text}");
}

/// Hands `input` to `write` line by line, with `label` before each.
///
/// # Errors
/// When reading or writing fails; a last line without an end gets one.
pub(crate) fn copy_lines(
    input: impl Read,
    label: &str,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(label.as_bytes());
        if input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(());
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        write(&line)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        let write = |line: &[u8]| output.write_all(line);
        copy_lines(input, "[p1] ", write).unwrap();
        output
    }

    #[test]
    fn each_line_is_labelled() {
        assert_eq!(labelled(b""), b"");
        assert_eq!(labelled(b"a\n\nb\n"), b"[p1] a\n[p1] \n[p1] b\n");
        assert_eq!(labelled(b"no end"), b"[p1] no end\n");
        assert_eq!(labelled(b"\xff\r\n"), b"[p1] \xff\r\n");
    }

    #[test]
    fn endless_lines_are_cut() {
        let limit = usize::try_from(LONGEST_LINE).unwrap();
        let output = labelled(&vec![b'x'; limit + 1]);
        assert_eq!(output.len(), limit + 1 + 2 * b"[p1] \n".len());
        assert!(output.ends_with(b"\n[p1] x\n"));
    }
}

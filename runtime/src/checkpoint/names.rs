//! File names for uids, states and jobs, which may hold any character.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// Longest name we make; file systems allow 255 bytes, and a suffix follows.
const MAX_LENGTH: usize = 200;

/// A file name for `name`: letters, digits, `_`, `-` and inner dots stay, other bytes become `%XX`; a
/// long name is cut and ends in a hash of the whole. Different names get different file names.
pub(super) fn file_name(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-')
            || (byte == b'.' && index > 0);
        if plain {
            escaped.push(char::from(byte));
        } else {
            escape(&mut escaped, byte);
        }
    }
    if escaped.is_empty() {
        // No byte escapes to a lone percent sign, so this is taken by nothing else.
        return "%".to_owned();
    }
    if escaped.len() > MAX_LENGTH {
        escaped.truncate(MAX_LENGTH - 17);
        escaped.push('~');
        for byte in &Sha256::digest(name.as_bytes())[..8] {
            write!(escaped, "{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    escaped
}

fn escape(text: &mut String, byte: u8) {
    write!(text, "%{byte:02X}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(
            file_name("12_stream-join_left.state"),
            "12_stream-join_left.state"
        );
        assert_eq!(file_name("a/b"), "a%2Fb");
        assert_eq!(file_name(".."), "%2E.");
        assert_eq!(file_name("é"), "%C3%A9");
        assert_eq!(file_name(""), "%");
        let (a, b) = ("x".repeat(300), "x".repeat(301));
        assert_eq!(file_name(&a).len(), MAX_LENGTH);
        assert_ne!(file_name(&a), file_name(&b));
    }
}

//! Text by character positions.

/// Returns the byte offset of a character, or the text's length beyond its end.
pub(super) fn offset(text: &str, character: usize) -> usize {
    if text.is_ascii() {
        return character.min(text.len());
    }
    text.char_indices()
        .nth(character)
        .map_or(text.len(), |(at, _)| at)
}

/// Returns the number of characters.
pub(super) fn count(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

/// Returns at most `length` characters from one (counted from zero) on.
pub(super) fn slice(text: &str, start: usize, length: usize) -> &str {
    let from = offset(text, start);
    let rest = &text[from..];
    &rest[..offset(rest, length)]
}

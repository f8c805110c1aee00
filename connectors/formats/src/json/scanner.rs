//! Goes over the text of one JSON value (RFC 8259).
//!
//! A pull scanner: the caller knows what it wants and asks for it. It allocates nothing but for
//! strings with escapes, which are written to a buffer of the caller.

/// How deep arrays and objects may be nested in a value that is skipped.
const MAX_DEPTH: usize = 256;

/// What is wrong with the text.
pub(super) type Reason = String;

type Result<T> = std::result::Result<T, Reason>;

/// A position in a text.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scanner { text, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The position in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The text from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte that is not blank.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                next => return next.copied(),
            }
        }
    }

    /// Goes over `byte` if it comes next.
    #[inline]
    pub(super) fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Goes over `byte`, which must come next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8, place: &str) -> Result<()> {
        if self.skip_if(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{}' {place}", char::from(byte))))
    }

    /// The error that `wanted` does not come next.
    #[cold]
    pub(super) fn unexpected(&mut self, wanted: &str) -> Reason {
        self.peek();
        let column = self.text.get(..self.at).unwrap_or_default().chars().count() + 1;
        match self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
        {
            Some(found) => format!("expected {wanted}, found '{found}' at character {column}"),
            None => format!("expected {wanted}, but the text ends"),
        }
    }

    /// Nothing but blanks may follow.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }

    /// Goes over `true`, `false` or `null` if that comes next.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.peek();
        let rest = &self.bytes()[self.at..];
        let word = ["null", "true", "false"]
            .into_iter()
            .find(|word| rest.starts_with(word.as_bytes()))?;
        let start = self.at;
        self.at += word.len();
        Some(self.since(start))
    }

    /// Goes over a number, which must come next.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        self.peek();
        let start = self.at;
        let bytes = self.bytes();
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let digits = |at: usize| {
            let digits = bytes[at.min(bytes.len())..]
                .iter()
                .take_while(|b| b.is_ascii_digit());
            digits.count()
        };
        let whole = digits(at);
        let leading_zero = whole > 1 && bytes.get(at) == Some(&b'0');
        at += whole;
        let mut valid = whole > 0 && !leading_zero;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            valid &= fraction > 0;
            at += 1 + fraction;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at);
            valid &= exponent > 0;
            at += exponent;
        }
        if !valid {
            return Err(self.unexpected("a value"));
        }
        self.at = at;
        Ok(self.since(start))
    }

    /// Goes over a string, which must come next. Its text stands in `buffer` if it has escapes.
    #[inline]
    pub(super) fn string<'b>(&mut self, buffer: &'b mut String) -> Result<&'b str>
    where
        'a: 'b,
    {
        if !self.skip_if(b'"') {
            return Err(self.unexpected("a string"));
        }
        let start = self.at;
        while let Some(byte) = self.bytes().get(self.at) {
            match byte {
                b'"' => {
                    let text = self.since(start);
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => return self.escaped_string(start, buffer),
                0..0x20 => break,
                _ => self.at += 1,
            }
        }
        Err(self.open_string())
    }

    #[cold]
    fn open_string(&self) -> Reason {
        match self.bytes().get(self.at) {
            Some(byte) => format!("a string holds the control character {byte:#04x}"),
            None => "a string is not closed".to_string(),
        }
    }

    fn escaped_string<'b>(&mut self, start: usize, buffer: &'b mut String) -> Result<&'b str> {
        buffer.clear();
        buffer.push_str(self.since(start));
        let mut copied = self.at;
        while let Some(byte) = self.bytes().get(self.at) {
            match byte {
                b'"' => {
                    buffer.push_str(self.since(copied));
                    self.at += 1;
                    return Ok(buffer);
                }
                b'\\' => {
                    buffer.push_str(self.since(copied));
                    let character = self.escape()?;
                    buffer.push(character);
                    copied = self.at;
                }
                0..0x20 => break,
                _ => self.at += 1,
            }
        }
        Err(self.open_string())
    }

    /// Goes over an escape, whose backslash comes next.
    fn escape(&mut self) -> Result<char> {
        let escape = self.bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match escape {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let code = self.hex()?;
                let code = match code {
                    0xd800..0xdc00 if self.bytes()[self.at..].starts_with(b"\\u") => {
                        self.at += 2;
                        match self.hex()? {
                            low @ 0xdc00..0xe000 => {
                                0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                            }
                            _ => code,
                        }
                    }
                    code => code,
                };
                char::from_u32(code)
                    .ok_or_else(|| "a string holds half of a surrogate pair".to_string())?
            }
            _ => return Err("a string holds an escape that JSON does not have".to_string()),
        })
    }

    fn hex(&mut self) -> Result<u32> {
        let digits = self.bytes().get(self.at..self.at + 4);
        self.at += 4;
        digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| "an escape '\\u' needs four hexadecimal digits".to_string())
    }

    /// Goes over any value. With `compact` its text is appended there without blanks.
    pub(super) fn skip_value(&mut self, compact: Option<&mut String>) -> Result<()> {
        let mut nothing = None;
        let compact = match compact {
            Some(text) => &mut Some(text),
            None => &mut nothing,
        };
        self.skip(compact, 0)
    }

    fn skip(&mut self, compact: &mut Option<&mut String>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(format!("values are nested deeper than {MAX_DEPTH}"));
        }
        let open = self.peek();
        match open {
            Some(b'{' | b'[') => {
                let close = if open == Some(b'{') { b'}' } else { b']' };
                self.copy_byte(compact);
                if self.peek() != Some(close) {
                    loop {
                        if close == b'}' {
                            self.skip_string(compact)?;
                            if self.peek() != Some(b':') {
                                return Err(self.unexpected("':' after a name"));
                            }
                            self.copy_byte(compact);
                        }
                        self.skip(compact, depth + 1)?;
                        if self.peek() != Some(b',') {
                            break;
                        }
                        self.copy_byte(compact);
                    }
                }
                if self.peek() != Some(close) {
                    return Err(self.unexpected(&format!("',' or '{}'", char::from(close))));
                }
                self.copy_byte(compact);
            }
            Some(b'"') => self.skip_string(compact)?,
            _ => {
                let text = match self.word() {
                    Some(word) => word,
                    None => self.number()?,
                };
                if let Some(compact) = compact {
                    compact.push_str(text);
                }
            }
        }
        Ok(())
    }

    fn copy_byte(&mut self, compact: &mut Option<&mut String>) {
        if let (Some(compact), Some(byte)) = (compact, self.bytes().get(self.at)) {
            compact.push(char::from(*byte));
        }
        self.at += 1;
    }

    fn skip_string(&mut self, compact: &mut Option<&mut String>) -> Result<()> {
        self.peek();
        let start = self.at;
        self.string(&mut String::new())?;
        if let Some(compact) = compact {
            compact.push_str(self.since(start));
        }
        Ok(())
    }
}

//! Flink's types in the token stream: finds where a type ends and keeps its text.
//!
//! `ROW<a INT, b STRING NOT NULL>`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`, `INT ARRAY`,
//! `MAP<STRING, ARRAY<INT>>`. What the text means is decided by the type layer alone.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

use super::error::error_at;

/// How deep types may nest.
const MAX_DEPTH: usize = 64;

/// A type's text and place.
pub(super) struct TypeText {
    pub(super) text: String,
    pub(super) span: Span,
}

/// Names that begin a type.
const TYPE_NAMES: &[&str] = &[
    "ARRAY",
    "BIGINT",
    "BINARY",
    "BITMAP",
    "BOOLEAN",
    "BYTES",
    "CHAR",
    "CHARACTER",
    "DATE",
    "DEC",
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INT",
    "INTEGER",
    "INTERVAL",
    "MAP",
    "MULTISET",
    "NULL",
    "NUMERIC",
    "RAW",
    "ROW",
    "SMALLINT",
    "STRING",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "VARBINARY",
    "VARCHAR",
    "VARIANT",
];

/// Reads a type at the parser's place.
pub(super) fn parse_type(parser: &mut Parser) -> Result<TypeText, ParserError> {
    let begin = parser.peek_token_ref().span;
    let mut reader = TypeReader {
        parser,
        text: String::new(),
        pending_close: false,
    };
    reader.data_type(0)?;
    if reader.pending_close {
        let close = reader.parser.get_current_token().span.start;
        return Err(error_at("one '>' too many", close));
    }
    let text = reader.text.trim().to_string();
    let span = Span::new(begin.start, parser.get_current_token().span.end);
    Ok(TypeText { text, span })
}

struct TypeReader<'a, 'b> {
    parser: &'a mut Parser<'b>,
    text: String,
    /// The tokenizer reads `>>` as one token: its first half is used up, the second is due.
    pending_close: bool,
}

impl TypeReader<'_, '_> {
    fn data_type(&mut self, depth: usize) -> Result<(), ParserError> {
        if depth > MAX_DEPTH {
            return Err(ParserError::RecursionLimitExceeded);
        }
        let token = self.parser.peek_token();
        let Token::Word(word) = &token.token else {
            return self.parser.expected("a type", token);
        };
        let name = word.value.to_ascii_uppercase();
        if word.quote_style.is_some() || TYPE_NAMES.binary_search(&name.as_str()).is_err() {
            return self.parser.expected("a type", token);
        }
        self.parser.next_token();
        self.push(&name);
        match name.as_str() {
            "ROW" => self.fields(depth)?,
            "ARRAY" | "MULTISET" => {
                self.open()?;
                self.data_type(depth + 1)?;
                self.close()?;
            }
            "MAP" => {
                self.open()?;
                self.data_type(depth + 1)?;
                self.parser.expect_token(&Token::Comma)?;
                self.text.push(',');
                self.data_type(depth + 1)?;
                self.close()?;
            }
            "INTERVAL" => self.interval()?,
            _ => {
                self.words(&[Keyword::VARYING, Keyword::PRECISION]);
                self.parameters()?;
                if self.words(&[Keyword::WITH, Keyword::WITHOUT]) {
                    self.words(&[Keyword::LOCAL]);
                    for word in [Keyword::TIME, Keyword::ZONE] {
                        let token = self.parser.expect_keyword(word)?;
                        self.push(&token.token.to_string());
                    }
                }
            }
        }
        self.nullability();
        if !self.pending_close {
            while self.words(&[Keyword::ARRAY, Keyword::MULTISET]) {
                self.nullability();
            }
        }
        Ok(())
    }

    fn push(&mut self, word: &str) {
        if !self.text.is_empty() && !self.text.ends_with(['<', '(', ' ']) {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    /// Takes one of these words if it is next.
    fn words(&mut self, words: &[Keyword]) -> bool {
        if self.pending_close || self.parser.parse_one_of_keywords(words).is_none() {
            return false;
        }
        let text = self
            .parser
            .get_current_token()
            .token
            .to_string()
            .to_ascii_uppercase();
        self.push(&text);
        true
    }

    fn nullability(&mut self) {
        if self.pending_close {
            return;
        }
        if self.parser.parse_keywords(&[Keyword::NOT, Keyword::NULL]) {
            self.push("NOT NULL");
        } else if self.parser.parse_keyword(Keyword::NULL) {
            self.push("NULL");
        }
    }

    fn parameters(&mut self) -> Result<(), ParserError> {
        if self.parser.peek_token_ref().token != Token::LParen {
            return Ok(());
        }
        self.parser.next_token();
        let numbers = self
            .parser
            .parse_comma_separated(Parser::parse_literal_uint)?;
        self.parser.expect_token(&Token::RParen)?;
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        self.text.push_str(&format!("({})", numbers.join(", ")));
        Ok(())
    }

    fn interval(&mut self) -> Result<(), ParserError> {
        const UNITS: &[Keyword] = &[
            Keyword::YEAR,
            Keyword::MONTH,
            Keyword::DAY,
            Keyword::HOUR,
            Keyword::MINUTE,
            Keyword::SECOND,
        ];
        if !self.words(UNITS) {
            let token = self.parser.peek_token();
            return self
                .parser
                .expected("YEAR, MONTH, DAY, HOUR, MINUTE or SECOND", token);
        }
        self.parameters()?;
        if self.words(&[Keyword::TO]) {
            if !self.words(UNITS) {
                let token = self.parser.peek_token();
                return self.parser.expected("MONTH, HOUR, MINUTE or SECOND", token);
            }
            self.parameters()?;
        }
        Ok(())
    }

    /// `<a INT, ..>` or `(a INT, ..)`.
    fn fields(&mut self, depth: usize) -> Result<(), ParserError> {
        let in_parentheses = self.parser.consume_token(&Token::LParen);
        if in_parentheses {
            self.text.push('<');
        } else {
            self.open()?;
        }
        loop {
            let name = self.parser.parse_identifier()?;
            self.push(&format!("`{}`", name.value.replace('`', "``")));
            self.data_type(depth + 1)?;
            if let Token::SingleQuotedString(comment) = &self.parser.peek_token_ref().token
                && !self.pending_close
            {
                let comment = format!("'{}'", comment.replace('\'', "''"));
                self.parser.next_token();
                self.push(&comment);
            }
            if self.pending_close || !self.parser.consume_token(&Token::Comma) {
                break;
            }
            self.text.push(',');
        }
        if in_parentheses {
            self.parser.expect_token(&Token::RParen)?;
            self.text.push('>');
            Ok(())
        } else {
            self.close()
        }
    }

    fn open(&mut self) -> Result<(), ParserError> {
        self.parser.expect_token(&Token::Lt)?;
        self.text.push('<');
        Ok(())
    }

    fn close(&mut self) -> Result<(), ParserError> {
        if self.pending_close {
            self.pending_close = false;
        } else if self.parser.consume_token(&Token::ShiftRight) {
            self.pending_close = true;
        } else {
            self.parser.expect_token(&Token::Gt)?;
        }
        self.text.push('>');
        Ok(())
    }
}

//! Types from text: Flink's type strings and SQL's spellings of the same types.
//!
//! A hand-written recursive descent over tokens; nesting is limited, so that no text can
//! overflow the stack. `VARCHAR` and `VARBINARY` without a length are STRING and BYTES, as in SQL.

use std::str::FromStr;

use super::{DataType, Field, LogicalType, MAX_LENGTH, MAX_PRECISION_DECIMAL};
use crate::error::TypesError;

const MAX_DEPTH: usize = 64;

impl FromStr for DataType {
    type Err = TypesError;

    fn from_str(text: &str) -> Result<Self, TypesError> {
        let tokens = tokenize(text)?;
        let mut parser = Parser {
            text,
            tokens,
            next: 0,
            depth: 0,
        };
        let data_type = parser.data_type()?;
        match parser.peek() {
            None => Ok(data_type),
            Some(token) => Err(parser.error(format!("unexpected {}", token.describe()))),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Text(String),
    Number(u32),
    Symbol(char),
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Self::Word(w) => format!("'{w}'"),
            Self::Quoted(w) => format!("'`{w}`'"),
            Self::Text(w) => format!("text '{w}'"),
            Self::Number(n) => format!("number {n}"),
            Self::Symbol(c) => format!("'{c}'"),
        }
    }
}

fn tokenize(text: &str) -> Result<Vec<(usize, Token)>, TypesError> {
    let fail = |position: usize, message: String| TypesError::ParseType {
        text: text.to_owned(),
        position,
        message,
    };
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        if c.is_whitespace() {
            i += 1;
            continue;
        }
        if c == '`' || c == '\'' {
            let mut word = String::new();
            i += 1;
            loop {
                match chars.get(i) {
                    None => return Err(fail(start, format!("the closing {c} is missing"))),
                    Some(&d) if d == c && chars.get(i + 1) == Some(&c) => {
                        word.push(c);
                        i += 2;
                    }
                    Some(&d) if d == c => break,
                    Some(&d) => {
                        word.push(d);
                        i += 1;
                    }
                }
            }
            i += 1;
            tokens.push((
                start,
                if c == '`' {
                    Token::Quoted(word)
                } else {
                    Token::Text(word)
                },
            ));
        } else if c.is_ascii_digit() {
            while i < chars.len() && chars[i].is_ascii_digit() {
                i += 1;
            }
            let digits: String = chars[start..i].iter().collect();
            let number = digits
                .parse()
                .map_err(|_| fail(start, format!("number {digits} is too large")))?;
            tokens.push((start, Token::Number(number)));
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            while i < chars.len()
                && (chars[i].is_alphanumeric() || chars[i] == '_' || chars[i] == '$')
            {
                i += 1;
            }
            tokens.push((start, Token::Word(chars[start..i].iter().collect())));
        } else if "<>(),".contains(c) {
            i += 1;
            tokens.push((start, Token::Symbol(c)));
        } else {
            return Err(fail(start, format!("unexpected character '{c}'")));
        }
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn error(&self, message: impl Into<String>) -> TypesError {
        let position = self
            .tokens
            .get(self.next)
            .map_or_else(|| self.text.chars().count(), |(position, _)| *position);
        TypesError::ParseType {
            text: self.text.to_owned(),
            position,
            message: message.into(),
        }
    }

    fn symbol(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&Token::Symbol(symbol));
        self.next += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: char) -> Result<(), TypesError> {
        if self.symbol(symbol) {
            return Ok(());
        }
        let found = self
            .peek()
            .map_or_else(|| "the end".to_owned(), Token::describe);
        Err(self.error(format!("expected '{symbol}', found {found}")))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        self.next += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Result<(), TypesError> {
        if self.word(word) {
            return Ok(());
        }
        let found = self
            .peek()
            .map_or_else(|| "the end".to_owned(), Token::describe);
        Err(self.error(format!("expected {word}, found {found}")))
    }

    fn data_type(&mut self) -> Result<DataType, TypesError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("types nest deeper than {MAX_DEPTH} levels")));
        }
        let logical = self.logical()?;
        let mut data_type = self.nullability(logical)?;
        // The postfix forms `INT ARRAY` and `INT MULTISET`.
        loop {
            let logical = if self.word("ARRAY") {
                LogicalType::Array(Box::new(data_type))
            } else if self.word("MULTISET") {
                LogicalType::Multiset(Box::new(data_type))
            } else {
                break;
            };
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.error(format!("types nest deeper than {MAX_DEPTH} levels")));
            }
            data_type = self.nullability(logical)?;
        }
        self.depth -= 1;
        Ok(data_type)
    }

    fn nullability(&mut self, logical: LogicalType) -> Result<DataType, TypesError> {
        if self.word("NOT") {
            self.expect_word("NULL")?;
            return Ok(DataType::new(logical).not_null());
        }
        self.word("NULL");
        Ok(DataType::new(logical))
    }

    fn logical(&mut self) -> Result<LogicalType, TypesError> {
        let name = match self.peek() {
            Some(Token::Word(word)) => word.to_ascii_uppercase(),
            Some(token) => {
                return Err(self.error(format!("expected a type name, found {}", token.describe())));
            }
            None => return Err(self.error("expected a type name, found the end")),
        };
        self.next += 1;
        Ok(match name.as_str() {
            "CHAR" | "CHARACTER" => {
                if self.word("VARYING") {
                    LogicalType::VarChar(self.length(MAX_LENGTH)?)
                } else {
                    LogicalType::Char(self.length(1)?)
                }
            }
            "VARCHAR" => LogicalType::VarChar(self.length(MAX_LENGTH)?),
            "STRING" => LogicalType::VarChar(MAX_LENGTH),
            "BOOLEAN" => LogicalType::Boolean,
            "BINARY" => {
                if self.word("VARYING") {
                    LogicalType::VarBinary(self.length(MAX_LENGTH)?)
                } else {
                    LogicalType::Binary(self.length(1)?)
                }
            }
            "VARBINARY" => LogicalType::VarBinary(self.length(MAX_LENGTH)?),
            "BYTES" => LogicalType::VarBinary(MAX_LENGTH),
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "TINYINT" => LogicalType::TinyInt,
            "SMALLINT" => LogicalType::SmallInt,
            "INT" | "INTEGER" => LogicalType::Int,
            "BIGINT" => LogicalType::BigInt,
            "FLOAT" => LogicalType::Float,
            "DOUBLE" => {
                self.word("PRECISION");
                LogicalType::Double
            }
            "DATE" => LogicalType::Date,
            "TIME" => {
                let precision = self.precision(0)?;
                self.without_time_zone()?;
                LogicalType::Time(precision)
            }
            "TIMESTAMP" => {
                let precision = self.precision(6)?;
                if self.word("WITH") {
                    self.expect_word("LOCAL")?;
                    self.expect_word("TIME")?;
                    self.expect_word("ZONE")?;
                    LogicalType::TimestampLtz(precision)
                } else {
                    self.without_time_zone()?;
                    LogicalType::Timestamp(precision)
                }
            }
            "TIMESTAMP_LTZ" => LogicalType::TimestampLtz(self.precision(6)?),
            "INTERVAL" => self.interval()?,
            "ARRAY" => {
                self.expect_symbol('<')?;
                let element = self.data_type()?;
                self.expect_symbol('>')?;
                LogicalType::Array(Box::new(element))
            }
            "MULTISET" => {
                self.expect_symbol('<')?;
                let element = self.data_type()?;
                self.expect_symbol('>')?;
                LogicalType::Multiset(Box::new(element))
            }
            "MAP" => {
                self.expect_symbol('<')?;
                let key = self.data_type()?;
                self.expect_symbol(',')?;
                let value = self.data_type()?;
                self.expect_symbol('>')?;
                LogicalType::Map(Box::new(key), Box::new(value))
            }
            "ROW" => self.row()?,
            "NULL" => LogicalType::Null,
            _ => {
                self.next -= 1;
                return Err(self.error(format!("'{name}' is not a type")));
            }
        })
    }

    fn without_time_zone(&mut self) -> Result<(), TypesError> {
        if self.word("WITHOUT") {
            self.expect_word("TIME")?;
            self.expect_word("ZONE")?;
        }
        Ok(())
    }

    fn number(&mut self, what: &str, min: u32, max: u32) -> Result<u32, TypesError> {
        match self.peek() {
            Some(&Token::Number(n)) if (min..=max).contains(&n) => {
                self.next += 1;
                Ok(n)
            }
            Some(&Token::Number(n)) => Err(self.error(format!(
                "{what} must be between {min} and {max}, but is {n}"
            ))),
            _ => Err(self.error(format!("expected a number as {what}"))),
        }
    }

    fn length(&mut self, default: u32) -> Result<u32, TypesError> {
        if !self.symbol('(') {
            return Ok(default);
        }
        let length = self.number("length", 1, MAX_LENGTH)?;
        self.expect_symbol(')')?;
        Ok(length)
    }

    fn small_number(&mut self, what: &str, min: u8, max: u8) -> Result<u8, TypesError> {
        let n = self.number(what, min.into(), max.into())?;
        Ok(u8::try_from(n).expect("the number is between two u8"))
    }

    fn precision(&mut self, default: u8) -> Result<u8, TypesError> {
        if !self.symbol('(') {
            return Ok(default);
        }
        let precision = self.small_number("precision", 0, 9)?;
        self.expect_symbol(')')?;
        Ok(precision)
    }

    fn decimal(&mut self) -> Result<LogicalType, TypesError> {
        let (mut precision, mut scale) = (10, 0);
        if self.symbol('(') {
            precision = self.small_number("precision", 1, MAX_PRECISION_DECIMAL)?;
            if self.symbol(',') {
                scale = self.small_number("scale", 0, precision)?;
            }
            self.expect_symbol(')')?;
        }
        Ok(LogicalType::Decimal { precision, scale })
    }

    fn interval(&mut self) -> Result<LogicalType, TypesError> {
        const MONTHS: [&str; 2] = ["YEAR", "MONTH"];
        const MILLIS: [&str; 4] = ["DAY", "HOUR", "MINUTE", "SECOND"];
        let units = |parser: &mut Self| -> Result<bool, TypesError> {
            let is_month = if MONTHS.iter().any(|unit| parser.word(unit)) {
                true
            } else if MILLIS.iter().any(|unit| parser.word(unit)) {
                false
            } else {
                return Err(parser.error("expected YEAR, MONTH, DAY, HOUR, MINUTE or SECOND"));
            };
            if parser.symbol('(') {
                parser.number("precision", 0, 9)?;
                if parser.symbol(',') {
                    parser.number("precision", 0, 9)?;
                }
                parser.expect_symbol(')')?;
            }
            Ok(is_month)
        };
        let is_month = units(self)?;
        if self.word("TO") && units(self)? != is_month {
            return Err(self.error("an interval cannot mix months and seconds"));
        }
        Ok(if is_month {
            LogicalType::IntervalYearMonth
        } else {
            LogicalType::IntervalDayTime
        })
    }

    fn row(&mut self) -> Result<LogicalType, TypesError> {
        let close = if self.symbol('(') {
            ')'
        } else {
            self.expect_symbol('<')?;
            '>'
        };
        let mut fields = Vec::new();
        if self.symbol(close) {
            return Ok(LogicalType::Row(fields));
        }
        loop {
            let name = match self.peek() {
                Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
                _ => return Err(self.error("expected a field name")),
            };
            self.next += 1;
            let data_type = self.data_type()?;
            if matches!(self.peek(), Some(Token::Text(_))) {
                self.next += 1; // A field's comment is no part of its type.
            }
            fields.push(Field { name, data_type });
            if self.symbol(close) {
                return Ok(LogicalType::Row(fields));
            }
            self.expect_symbol(',')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, printed: &str) {
        let data_type: DataType = text.parse().unwrap();
        assert_eq!(data_type.to_string(), printed);
        assert_eq!(printed.parse::<DataType>().unwrap(), data_type);
    }

    #[test]
    fn spellings() {
        check("VARCHAR(5) NOT NULL", "VARCHAR(5) NOT NULL");
        check("varchar(2147483647)", "STRING");
        check("VARBINARY(2147483647) NOT NULL", "BYTES NOT NULL");
        check("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)");
        check("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP(6)");
        check("numeric", "DECIMAL(10, 0)");
        check("dec(5,2)", "DECIMAL(5, 2)");
        check("INTERVAL DAY(2) TO SECOND(3)", "INTERVAL SECOND(3)");
        check("INTERVAL YEAR TO MONTH NOT NULL", "INTERVAL MONTH NOT NULL");
        check(
            "ROW(f0 BIGINT NOT NULL, `a``b` ROW<x INT> 'text')",
            "ROW<`f0` BIGINT NOT NULL, `a``b` ROW<`x` INT>>",
        );
        check(
            "INT NOT NULL ARRAY NOT NULL",
            "ARRAY<INT NOT NULL> NOT NULL",
        );
        check("MAP<INT, MULTISET<STRING>>", "MAP<INT, MULTISET<STRING>>");
        check("ROW<>", "ROW<>");
        check("NULL", "NULL");
        check("TIME", "TIME(0)");
        check("double precision", "DOUBLE");
    }

    #[test]
    fn errors_have_positions() {
        let position = |text: &str| match text.parse::<DataType>() {
            Err(TypesError::ParseType { position, .. }) => position,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(position(""), 0);
        assert_eq!(position("INTT"), 0);
        assert_eq!(position("ROW<a INT, b FOO>"), 13);
        assert_eq!(position("DECIMAL(39, 2)"), 8);
        assert_eq!(position("DECIMAL(5, 6)"), 11);
        assert_eq!(position("CHAR(0)"), 5);
        assert_eq!(position("INT INT"), 4);
        assert_eq!(position("ARRAY<INT"), 9);
        assert_eq!(position("`x"), 0);
        assert_eq!(position("VARCHAR(99999999999)"), 8);
        position(&"ARRAY<".repeat(10_000));
        position(&format!("INT{}", " ARRAY".repeat(10_000)));
    }
}

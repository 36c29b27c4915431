//! Flink's spellings of data types.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};

use super::dialect::{FlinkDialect, unsupported};
use crate::types::{DataType, Field, MAX_LENGTH, Type};

type Parsed<T> = Result<T, ParserError>;

/// How deep types may nest; Flink's own limit is the stack.
const DEPTH_LIMIT: usize = 32;

/// Parses a type with its nullability at the parser's position.
pub(super) fn parse_type(parser: &mut Parser<'_>) -> Parsed<DataType> {
    let mut types = TypeParser { half_closed: false, depth: 0 };
    let data_type = types.data_type(parser)?;
    if types.half_closed {
        return Err(ParserError::ParserError(format!("Expected: a type, found: >{}", parser.peek_token().span.start)));
    }
    Ok(data_type)
}

/// Parses text that [`DataType`] printed.
pub(super) fn parse_text(text: &str) -> Parsed<DataType> {
    let dialect = FlinkDialect;
    let tokens = Tokenizer::new(&dialect, text).tokenize().map_err(ParserError::from)?;
    parse_type(&mut Parser::new(&dialect).with_tokens(tokens))
}

struct TypeParser {
    /// One half of a `>>` token has closed an inner type.
    half_closed: bool,
    depth: usize,
}

impl TypeParser {
    fn data_type(&mut self, parser: &mut Parser<'_>) -> Parsed<DataType> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(ParserError::RecursionLimitExceeded);
        }
        let mut data_type = DataType { kind: self.kind(parser)?, nullable: true };
        loop {
            if !self.half_closed && parser.parse_keywords(&[Keyword::NOT, Keyword::NULL]) {
                data_type.nullable = false;
            } else if !self.half_closed && parser.parse_keyword(Keyword::NULL) {
                data_type.nullable = true;
            } else if !self.half_closed && parser.parse_keyword(Keyword::ARRAY) {
                data_type = Type::Array(Box::new(data_type)).nullable();
            } else {
                break;
            }
        }
        self.depth -= 1;
        Ok(data_type)
    }

    fn kind(&mut self, parser: &mut Parser<'_>) -> Parsed<Type> {
        let token = parser.next_token();
        let Token::Word(word) = &token.token else { return parser.expected("a data type", token) };
        if word.quote_style.is_some() {
            return parser.expected("a data type", token);
        }
        Ok(match word.value.to_ascii_uppercase().as_str() {
            "STRING" => Type::string(),
            "BYTES" => Type::VarBinary(MAX_LENGTH),
            "CHAR" => Type::Char(length(parser, 1)?),
            "VARCHAR" => Type::VarChar(length(parser, MAX_LENGTH)?),
            "BINARY" => Type::Binary(length(parser, 1)?),
            "VARBINARY" => Type::VarBinary(length(parser, MAX_LENGTH)?),
            "BOOLEAN" => Type::Boolean,
            "TINYINT" => Type::TinyInt,
            "SMALLINT" => Type::SmallInt,
            "INT" | "INTEGER" => Type::Int,
            "BIGINT" => Type::BigInt,
            "FLOAT" => Type::Float,
            "DOUBLE" => {
                let _ = parser.parse_keyword(Keyword::PRECISION);
                Type::Double
            }
            "DECIMAL" | "DEC" | "NUMERIC" => decimal(parser)?,
            "DATE" => Type::Date,
            "TIME" => {
                let precision = precision(parser)?.unwrap_or(0);
                without_time_zone(parser)?;
                Type::Time(precision)
            }
            "TIMESTAMP" => {
                let precision = precision(parser)?.unwrap_or(6);
                if without_time_zone(parser)? { Type::TimestampLtz(precision) } else { Type::Timestamp(precision) }
            }
            "TIMESTAMP_LTZ" => Type::TimestampLtz(precision(parser)?.unwrap_or(6)),
            "INTERVAL" => interval(parser)?,
            "ARRAY" => {
                self.open(parser)?;
                let element = self.data_type(parser)?;
                self.close(parser)?;
                Type::Array(Box::new(element))
            }
            "MULTISET" => {
                self.open(parser)?;
                let element = self.data_type(parser)?;
                self.close(parser)?;
                Type::Multiset(Box::new(element))
            }
            "MAP" => {
                self.open(parser)?;
                let key = self.data_type(parser)?;
                parser.expect_token(&Token::Comma)?;
                let value = self.data_type(parser)?;
                self.close(parser)?;
                Type::Map(Box::new(key), Box::new(value))
            }
            "ROW" => self.row(parser)?,
            name @ ("RAW" | "STRUCTURED" | "VARIANT" | "NULL" | "DESCRIPTOR" | "BITMAP") => {
                return unsupported(&format!("the type {name}"), token.span);
            }
            _ => return parser.expected("a data type", token),
        })
    }

    fn row(&mut self, parser: &mut Parser<'_>) -> Parsed<Type> {
        let round = parser.consume_token(&Token::LParen);
        if !round {
            self.open(parser)?;
        }
        let mut fields = Vec::new();
        loop {
            let name = parser.parse_identifier()?;
            let data_type = self.data_type(parser)?;
            fields.push(Field::new(name.value, data_type));
            if !self.half_closed && matches!(parser.peek_token_ref().token, Token::SingleQuotedString(_)) {
                parser.next_token();
            }
            if self.half_closed || !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        if round {
            parser.expect_token(&Token::RParen)?;
        } else {
            self.close(parser)?;
        }
        Ok(Type::Row(fields))
    }

    fn open(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        parser.expect_token(&Token::Lt).map(|_| ())
    }

    /// Takes one `>`; the tokenizer glues two of them together.
    fn close(&mut self, parser: &mut Parser<'_>) -> Parsed<()> {
        if std::mem::take(&mut self.half_closed) {
            return Ok(());
        }
        if parser.consume_token(&Token::ShiftRight) {
            self.half_closed = true;
            return Ok(());
        }
        parser.expect_token(&Token::Gt).map(|_| ())
    }
}

fn number(parser: &mut Parser<'_>, min: u64, max: u64, what: &str) -> Parsed<u64> {
    let place = parser.peek_token().span.start;
    let value = parser.parse_literal_uint()?;
    if value < min || value > max {
        return Err(ParserError::ParserError(format!("{what} must be between {min} and {max}, not {value}{place}")));
    }
    Ok(value)
}

/// `(n)`, or Flink's length of a type without it.
fn length(parser: &mut Parser<'_>, default: u32) -> Parsed<u32> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(default);
    }
    let value = number(parser, 1, u64::from(MAX_LENGTH), "the length")?;
    parser.expect_token(&Token::RParen)?;
    Ok(value as u32)
}

fn precision(parser: &mut Parser<'_>) -> Parsed<Option<u8>> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(None);
    }
    let value = number(parser, 0, 9, "the precision")?;
    parser.expect_token(&Token::RParen)?;
    Ok(Some(value as u8))
}

fn decimal(parser: &mut Parser<'_>) -> Parsed<Type> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(Type::Decimal(10, 0));
    }
    let precision = number(parser, 1, 38, "the precision of a DECIMAL")?;
    let mut scale = 0;
    if parser.consume_token(&Token::Comma) {
        scale = number(parser, 0, precision, "the scale of a DECIMAL")?;
    }
    parser.expect_token(&Token::RParen)?;
    Ok(Type::Decimal(precision as u8, scale as u8))
}

/// Takes `WITHOUT TIME ZONE` or `WITH LOCAL TIME ZONE`; true for the latter.
fn without_time_zone(parser: &mut Parser<'_>) -> Parsed<bool> {
    let span = parser.peek_token().span;
    if parser.parse_keywords(&[Keyword::WITHOUT, Keyword::TIME, Keyword::ZONE]) {
        return Ok(false);
    }
    if parser.parse_keywords(&[Keyword::WITH, Keyword::LOCAL, Keyword::TIME, Keyword::ZONE]) {
        return Ok(true);
    }
    if parser.parse_keywords(&[Keyword::WITH, Keyword::TIME, Keyword::ZONE]) {
        return unsupported("TIMESTAMP WITH TIME ZONE", span);
    }
    Ok(false)
}

fn interval(parser: &mut Parser<'_>) -> Parsed<Type> {
    let token = parser.next_token();
    let unit = match &token.token {
        Token::Word(word) => word.value.to_ascii_uppercase(),
        _ => String::new(),
    };
    let kind = match unit.as_str() {
        "YEAR" | "MONTH" => Type::IntervalYearMonth,
        "DAY" | "HOUR" | "MINUTE" | "SECOND" => Type::IntervalDaySecond,
        _ => return parser.expected("YEAR, MONTH, DAY, HOUR, MINUTE or SECOND", token),
    };
    precision(parser)?;
    if parser.parse_keyword(Keyword::TO) {
        parser.expect_one_of_keywords(&[Keyword::MONTH, Keyword::HOUR, Keyword::MINUTE, Keyword::SECOND])?;
        precision(parser)?;
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_type_is_read() {
        let cases = [
            ("STRING", "STRING"),
            ("VARCHAR", "STRING"),
            ("CHAR", "CHAR(1)"),
            ("VARBINARY", "BYTES"),
            ("VARCHAR(2147483647)", "STRING"),
            ("CHAR(3) NOT NULL", "CHAR(3) NOT NULL"),
            ("INTEGER", "INT"),
            ("DOUBLE PRECISION", "DOUBLE"),
            ("DEC", "DECIMAL(10, 0)"),
            ("NUMERIC(5)", "DECIMAL(5, 0)"),
            ("DECIMAL(5, 2)", "DECIMAL(5, 2)"),
            ("TIME", "TIME(0)"),
            ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
            ("TIMESTAMP", "TIMESTAMP(6)"),
            ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
            ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
            ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ(6)"),
            ("BYTES", "BYTES"),
            ("INTERVAL YEAR(2) TO MONTH", "INTERVAL YEAR TO MONTH"),
            ("INTERVAL DAY TO SECOND(3)", "INTERVAL DAY TO SECOND(3)"),
            ("ARRAY<ARRAY<INT NOT NULL>>", "ARRAY<ARRAY<INT NOT NULL>>"),
            ("INT ARRAY", "ARRAY<INT>"),
            ("MAP<STRING, ROW<a INT, b ROW<c INT>>>", "MAP<STRING, ROW<`a` INT, `b` ROW<`c` INT>>>"),
            ("ROW(a INT 'comment', `b c` STRING)", "ROW<`a` INT, `b c` STRING>"),
        ];
        for (text, expected) in cases {
            let parsed = parse_text(text).unwrap();
            assert_eq!(parsed.to_string(), expected);
            assert_eq!(parse_text(expected).unwrap(), parsed, "what prints reads back");
        }
    }

    #[test]
    fn a_type_that_does_not_exist_is_refused() {
        for text in ["FOO", "DECIMAL(39, 0)", "DECIMAL(5, 6)", "TIMESTAMP(10)", "ARRAY<INT>>", "ARRAY<INT", "CHAR(0)"] {
            assert!(parse_text(text).is_err(), "{text}");
        }
    }
}

//! The shape of a JSON line: what stands between its values. Lines of one file nearly always have
//! the same, so a line is read by comparing these pieces and converting what lies between them.

use super::token::{Fault, Token, Tokens, number, skip_value};
use super::value::{Converter, Wrong, advance};
use crate::format::column::{Column, Values};
use crate::format::convert::{JsonKind, push_json, push_plain};
use crate::format::fast::{DayCache, Stops};
use crate::format::parse::TimestampStyle;

/// More fields, or longer text between values, and no shape is kept.
const FIELDS_MAX: usize = 512;

/// Bytes to compare with, up to 16 of them in two words.
#[derive(Debug)]
struct Literal {
    bytes: Vec<u8>,
    words: [u64; 2],
    masks: [u64; 2],
}

/// A value and the text in front of it.
#[derive(Debug)]
struct Part {
    before: Literal,
    column: Option<usize>,
}

/// The pieces of a line.
#[derive(Debug)]
pub(crate) struct Shape {
    parts: Vec<Part>,
    tail: Literal,
    /// Columns that the line does not have.
    absent: Vec<usize>,
}

/// What reading a line by its shape needs besides.
pub(crate) struct Reader {
    pub style: TimestampStyle,
    pub day: DayCache,
    stops: Stops,
    /// For containers; a value that does not fit ends the short cut.
    strict: Converter,
}

impl Reader {
    pub fn new(style: TimestampStyle, strict: Converter) -> Self {
        Reader { style, day: DayCache::default(), stops: Stops::new(b'"', b'\\'), strict }
    }
}

impl Literal {
    fn new(bytes: &[u8]) -> Self {
        let mut padded = [0u8; 16];
        let mut mask = [0u8; 16];
        for (i, b) in bytes.iter().take(16).enumerate() {
            padded[i] = *b;
            mask[i] = 0xFF;
        }
        let words = |all: [u8; 16]| {
            let (low, high) = (all.first_chunk::<8>(), all.last_chunk::<8>());
            [low, high].map(|half| half.map_or(0, |half| u64::from_le_bytes(*half)))
        };
        Literal { bytes: bytes.to_vec(), words: words(padded), masks: words(mask) }
    }

    /// Where the text goes on behind this literal, if it stands at `at`.
    #[inline(always)]
    fn after(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let same = match rest.first_chunk::<16>() {
            Some(chunk) if self.bytes.len() <= 16 => {
                let (low, high) = (chunk.first_chunk::<8>()?, chunk.last_chunk::<8>()?);
                let low = (u64::from_le_bytes(*low) ^ self.words[0]) & self.masks[0];
                let high = (u64::from_le_bytes(*high) ^ self.words[1]) & self.masks[1];
                low | high == 0
            }
            _ => rest.starts_with(&self.bytes),
        };
        same.then_some(at + self.bytes.len())
    }
}

impl Shape {
    /// The shape of the line at the start of `line`; `column_of` finds the column of a field name. `None`
    /// where Flink's reading is not simply "each field once".
    pub fn learn(line: &[u8], columns: usize, column_of: impl Fn(&[u8]) -> Option<usize>) -> Option<Self> {
        let mut tokens = Tokens::new(line, 0);
        if tokens.next().ok()? != Some(Token::StartObject) {
            return None;
        }
        let mut parts = Vec::new();
        let mut absent: Vec<usize> = (0..columns).collect();
        let mut from = 0;
        loop {
            match tokens.next().ok()?? {
                Token::EndObject => break,
                Token::Name if parts.len() < FIELDS_MAX => {}
                _ => return None,
            }
            let column = column_of(tokens.value());
            if let Some(column) = column {
                // A repeated field counts twice in Flink, which then misses another.
                let position = absent.iter().position(|absent| *absent == column)?;
                absent.swap_remove(position);
            }
            let first = tokens.next().ok()??;
            parts.push(Part { before: Literal::new(line.get(from..tokens.start)?), column });
            skip_value(&mut tokens, first).ok()?;
            from = tokens.position();
        }
        Some(Shape { parts, tail: Literal::new(&line[from..tokens.position()]), absent })
    }

    /// True when every column has a field.
    pub fn is_complete(&self) -> bool {
        self.absent.is_empty()
    }

    /// Appends the line at `at` as a row; where its document ends. `None` if the line has another shape or
    /// an unusual value; columns may then have a value too many.
    #[inline]
    pub fn read(&self, columns: &mut [Column], reader: &mut Reader, bytes: &[u8], at: usize) -> Option<usize> {
        let mut at = at;
        for part in &self.parts {
            at = part.before.after(bytes, at)?;
            at = match part.column {
                Some(index) => reader.value(columns.get_mut(index)?, bytes, at)?,
                None => reader.skip(bytes, at)?,
            };
        }
        for column in &self.absent {
            columns.get_mut(*column)?.push_null();
        }
        self.tail.after(bytes, at)
    }
}

impl Reader {
    /// Appends the value at `at`; where it ends.
    #[inline(always)]
    fn value(&mut self, column: &mut Column, bytes: &[u8], at: usize) -> Option<usize> {
        match *bytes.get(at)? {
            b'"' => match &mut column.values {
                Values::Text(text) => {
                    let end = self.closing_quote(bytes, at + 1)?;
                    text.push_range(bytes, at + 1, end - at - 1);
                    Some(end + 1)
                }
                Values::Timestamp { zoned: false, .. } => {
                    let between = if self.style == TimestampStyle::Iso { b'T' } else { b' ' };
                    let rows = column.len();
                    let end = push_plain(column, bytes, at + 1, between, &mut self.day);
                    if bytes.get(end) == Some(&b'"') {
                        return Some(end + 1);
                    }
                    column.truncate(rows);
                    self.other_text(column, bytes, at)
                }
                _ => self.other_text(column, bytes, at),
            },
            b'-' | b'0'..=b'9' => self.number(column, bytes, at),
            b'n' if bytes[at..].starts_with(b"null") => {
                column.push_null();
                Some(at + 4)
            }
            b't' | b'f' => match &mut column.values {
                Values::Boolean(values) => {
                    let word: &[u8] = if bytes[at] == b't' { b"true" } else { b"false" };
                    values.push(bytes[at] == b't');
                    bytes[at..].starts_with(word).then_some(at + word.len())
                }
                _ => None,
            },
            b'{' | b'[' => self.container(column, bytes, at),
            _ => None,
        }
    }

    /// A container by the exact rules. It belongs to one line.
    #[inline(never)]
    fn container(&mut self, column: &mut Column, bytes: &[u8], at: usize) -> Option<usize> {
        let line = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let mut tokens = Tokens::new(&bytes[..line], at);
        let mut converted = || -> Result<usize, Wrong> {
            let first = advance(&mut tokens)?;
            self.strict.value(&mut tokens, first, column)?;
            Ok(tokens.position())
        };
        converted().ok()
    }

    fn other_text(&self, column: &mut Column, bytes: &[u8], at: usize) -> Option<usize> {
        let end = self.closing_quote(bytes, at + 1)?;
        push_json(column, JsonKind::Text, &bytes[at + 1..end], self.style).ok()?;
        Some(end + 1)
    }

    #[inline(always)]
    fn number(&mut self, column: &mut Column, bytes: &[u8], at: usize) -> Option<usize> {
        let digit = at + usize::from(bytes[at] == b'-');
        let leading_zero = bytes.get(digit) == Some(&b'0') && bytes.get(digit + 1).is_some_and(u8::is_ascii_digit);
        if !leading_zero && !matches!(column.values, Values::Timestamp { .. }) {
            let rows = column.len();
            let end = push_plain(column, bytes, at, b' ', &mut self.day);
            if bytes.get(end).is_some_and(|byte| !matches!(byte, b'.' | b'e' | b'E')) {
                return Some(end);
            }
            column.truncate(rows);
        }
        let (end, fraction) = number(bytes, at)?;
        let kind = if fraction { JsonKind::Fraction } else { JsonKind::Integer };
        push_json(column, kind, &bytes[at..end], self.style).ok()?;
        Some(end)
    }

    /// Where the string at `at` closes, if it has no escapes.
    #[inline]
    fn closing_quote(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let end = self.stops.find(bytes, at);
        (bytes.get(end) == Some(&b'"')).then_some(end)
    }

    fn skip(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match bytes.get(at)? {
            b'"' => self.closing_quote(bytes, at + 1).map(|end| end + 1),
            b'-' | b'0'..=b'9' => number(bytes, at).map(|(end, _)| end),
            _ => {
                let line = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                let skipped = || -> Result<usize, Fault> {
                    let mut tokens = Tokens::new(&bytes[..line], at);
                    let first = advance(&mut tokens)?;
                    skip_value(&mut tokens, first)?;
                    Ok(tokens.position())
                };
                skipped().ok()
            }
        }
    }
}
